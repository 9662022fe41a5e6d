import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { startBot, type Bot } from './bot.ts';
import type { Process } from './schedule.ts';
import type { World } from './world.ts';

type Running = { bot: Bot; process: Process; busy: number; idle: number };

const loopsOfProcess = 2;
/** Far more than anything needs that ends. */
const mostGates = 40_000;
const longestStepMs = 300_000;

/** The processes of the bot, and time, which passes only when the walk lets it. */
export class Engine {
  readonly running: Running[] = [];
  /** Pieces of work that were done. */
  done = 0;
  private started = 0;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    for (let number = 0; number < world.weather.replicas; number += 1) this.start();
  }

  start(): void {
    this.started += 1;
    const { weather, random } = this.world;
    const skewMs = weather.skewMs === 0 ? 0 : random.below(2 * weather.skewMs) - weather.skewMs;
    const process: Process = { name: `bot ${this.started}`, skewMs, isDead: false, frozenUntilMs: 0 };
    this.running.push({ bot: startBot(this.world, process), process, busy: 0, idle: 0 });
    this.arm();
  }

  /** As each process does every minute. */
  arm(): void {
    for (const { bot } of this.running) bot.arm();
  }

  kill(one: Running): void {
    this.world.tell(`${one.process.name} is killed`);
    this.world.schedule.kill(one.process);
    this.running.splice(this.running.indexOf(one), 1);
  }

  /** All of them at once, as when other rules are deployed. */
  restart(): void {
    const count = Math.max(1, this.running.length);
    for (const one of this.running.slice()) this.kill(one);
    for (let number = 0; number < count; number += 1) this.start();
  }

  /** Stopped as by SIGSTOP, unless it waits for an answer from outside, which would come too late. */
  freeze({ process }: Running, forMs: number): void {
    if (this.world.schedule.isOutside(process)) return;
    this.world.tell(`${process.name} is stopped for ${forMs} ms`);
    process.frozenUntilMs = this.world.clock.nowMs + forMs;
  }

  private pick(): Bot | undefined {
    if (this.running.length === 0) return undefined;
    const awake = this.running.filter(({ process }) => process.frozenUntilMs <= this.world.clock.nowMs);
    return this.world.random.pick(awake.length > 0 ? awake : this.running).bot;
  }

  /** Asks a process for something; `answered` is not called when it is killed, or the store does not answer it. */
  ask<Answer>(call: (bot: Bot) => Promise<Answer>, answered: (answer: Answer) => void): void {
    const bot = this.pick();
    if (!bot) return;
    const ended = async (): Promise<void> => {
      try {
        answered(await call(bot));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) this.world.violate(`a request fails: ${describe(error)}`);
      }
      this.wakeAll();
    };
    void ended();
  }

  /** Lets so many go on, one after the other; false when nobody could before. */
  async go(steps: number): Promise<boolean> {
    const { schedule } = this.world;
    for (let step = 0; step < steps; step += 1) {
      this.fill();
      // oxlint-disable-next-line no-await-in-loop -- one at a time is the point
      await schedule.settle();
      if (schedule.openOne()) continue;
      // Whoever has just ended may have made work.
      if (!this.fill()) return false;
    }
    return true;
  }

  async rest(): Promise<void> {
    if (await this.go(mostGates)) this.world.violate('the work never rests');
  }

  /** Time passes while calls are under way. */
  async advance(ms: number): Promise<void> {
    const { schedule, clock } = this.world;
    while (schedule.openPrompt(ms)) {
      // oxlint-disable-next-line no-await-in-loop
      await schedule.settle();
    }
    clock.nowMs += ms;
    this.wakeAll();
  }

  /** Time passes in steps, each as long as it takes to do what is due; ever longer ones while nothing is. */
  async pass(ms: number, firstStepMs = 500): Promise<void> {
    const { clock } = this.world;
    const endsAtMs = clock.nowMs + ms;
    let stepMs = firstStepMs;
    while (clock.nowMs < endsAtMs && this.world.violations.length === 0) {
      const before = this.done;
      // oxlint-disable-next-line no-await-in-loop
      await this.rest();
      // oxlint-disable-next-line no-await-in-loop
      await this.advance(Math.min(stepMs, endsAtMs - clock.nowMs));
      stepMs = this.done > before ? firstStepMs : Math.min(stepMs * 2, Math.max(firstStepMs, longestStepMs));
    }
    await this.rest();
  }

  private wakeAll(): void {
    for (const one of this.running) one.idle = 0;
  }

  /** True when somebody began to look for work. */
  private fill(): boolean {
    let isStarted = false;
    for (const one of this.running) {
      if (one.process.frozenUntilMs > this.world.clock.nowMs) continue;
      while (one.busy + one.idle < loopsOfProcess) {
        isStarted = true;
        void this.work(one);
      }
    }
    return isStarted;
  }

  private async work(one: Running): Promise<void> {
    one.busy += 1;
    let isDone = false;
    try {
      isDone = await one.bot.work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.world.violate(`work fails: ${describe(error)}`);
    }
    one.busy -= 1;
    if (!isDone) {
      one.idle += 1;
      return;
    }
    this.done += 1;
    this.wakeAll();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
