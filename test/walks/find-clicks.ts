import type { CardStep } from '../../src/domain/alert-card.ts';
import type { Click, World } from './world.ts';

/** One decision for each click, told to whoever clicked; and no step that nobody asked for. */
export function findWrongClicks(world: World): void {
  for (const [id, { steps }] of world.cards) {
    findWrongSteps(world, id, steps);
    const clicks = world.clicks.filter((click) => click.id === id);
    for (const click of clicks) findWrongAnswer(world, click, steps);
    const moved = clicks.flatMap(({ answer }) =>
      answer?.kind === 'moved' ? [JSON.stringify(answer.step)] : [],
    );
    for (const step of new Set(moved)) {
      const times = steps.filter((one) => JSON.stringify(one) === step).length;
      const told = moved.filter((one) => one === step).length;
      if (told > times) world.violate(`${told} were told that theirs is the one step of ${id}: ${step}`);
    }
    const asked = steps.filter((step) => 'by' in step);
    if (asked.length > clicks.length)
      world.violate(`${id} took ${asked.length} steps for ${clicks.length} clicks`);
  }
  findWrongStormClicks(world);
}

/** Acknowledged once at most, and nothing after its end. */
function findWrongSteps(world: World, id: string, steps: readonly CardStep[]): void {
  let state: 'open' | 'acknowledged' | 'ended' = 'open';
  for (const { kind } of steps) {
    const needsTaken = kind === 'assigned' || kind === 'snoozed' || kind === 'awake';
    const isWrong =
      state === 'ended' ||
      (kind === 'acknowledged' && state !== 'open') ||
      // All of a storm is acknowledged without a step of each card.
      (needsTaken && state !== 'acknowledged' && world.stormClicks.length === 0);
    if (isWrong)
      world.violate(`${id} is ${kind} when it is ${state}: ${steps.map((step) => step.kind).join()}`);
    if (kind === 'acknowledged') state = 'acknowledged';
    if (kind === 'closed' || kind === 'recovered') state = 'ended';
  }
}

function findWrongAnswer(world: World, { id, move, answer }: Click, steps: readonly CardStep[]): void {
  if (!answer) return;
  if (answer.kind === 'unknown_alert') world.violate(`nobody knows ${id}, which is shown`);
  if (answer.kind === 'moved' && !steps.some((step) => JSON.stringify(step) === JSON.stringify(answer.step)))
    world.violate(`${id} never took the step that a click was told of`);
  if (answer.kind !== 'refused' || answer.why !== 'taken' || move.kind !== 'acknowledge') return;
  const first = steps.find((step) => step.kind === 'acknowledged');
  const by = answer.card.kind === 'acknowledged' ? answer.card.by : undefined;
  if (by === undefined || (by !== first?.by && !world.stormClicks.some((asked) => asked.by === by)))
    world.violate(`whoever came second on ${id} is told of somebody who was not first`);
}

function findWrongStormClicks({ stormClicks, violate }: World): void {
  for (const storm of new Set(stormClicks.map((click) => click.storm))) {
    const of = stormClicks.filter((click) => click.storm === storm);
    const takers = of.filter(({ answer }) => answer?.kind === 'taken');
    if (takers.length > 1) violate(`${storm} is taken ${takers.length} times`);
    const had = new Set(of.flatMap(({ answer }) => (answer?.kind === 'had' ? [answer.by] : [])));
    const names = new Set([...had, ...takers.map(({ by }) => by)]);
    if (names.size > 1) violate(`${storm} is with ${[...names].join(' and ')}`);
  }
}
