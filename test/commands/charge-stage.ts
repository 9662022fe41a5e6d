import type { AlertTaken } from '../../src/domain/alert-card.ts';
import type { ApprovalNeeded } from '../../src/domain/approval-rules.ts';
import type { CardHold, CardRefusal, Twin } from '../../src/domain/card-refusal.ts';
import type { LimitRefusal, LimitVerdict, OwnLimits } from '../../src/domain/charge-limits.ts';
import type { ChargeSeen } from '../../src/domain/charge-seen.ts';
import type { ChargeTerms } from '../../src/domain/charge-terms.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { withoutUndefined } from '../../src/domain/without-undefined.ts';
import { createVerbs } from '../../src/commands/registry.ts';
import type { KnownCard } from '../../src/commands/charge/known-cards.ts';
import type { ChargeDesk } from '../../src/operations/charge/charge-desk.ts';
import { findBlockProblems, findViewProblems } from '../../src/slack/assert-blocks.ts';
import type { Pressed, Submission, ViewAnswer } from '../../src/slack/command.ts';
import { chargeStateModal } from '../../src/slack/charge/state-modal.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { quietVerbs } from './quiet-verbs.ts';

export const nowMs = 1_700_000_000_000;
export const agent = 'U0AGENT';
export const colleague = 'U0OTHER';
/** Long enough for a canary, and a token key that nothing else looks like. */
export const tokenKey = 'tok_CANARY_9f27c1d4e8';
export const pastedToken = 'tok_PASTED_51b0aa37cc';

export type SavedFake = KnownCard & { tokenKey: string };

export const adasCard: SavedFake = {
  id: 'card1',
  face: { cardType: 'Visa', lastFour: '4242' },
  customerEmail: 'ada@example.com',
  tokenKey,
};
export const cardWithoutEmail: SavedFake = { id: 'card2', face: { lastFour: '1881' }, tokenKey: 'tok_other' };

export function chargeOf(viewId: string, parts: Partial<ChargeSeen> = {}): ChargeSeen {
  return {
    reference: `pay-${viewId}` as OrderReference,
    terms: {
      card: { cardType: 'Visa', lastFour: '4242' },
      money: { minor: 1_250_000, currency: 'NGN' },
      customerEmail: 'ada@example.com',
    },
    by: agent,
    agent,
    submittedAt: nowMs,
    at: nowMs,
    state: { kind: 'charging' },
    heard: [],
    card: 'unknown-card',
    sends: 1,
    handOvers: [],
    resends: [],
    ...parts,
  };
}

export function otpCharge(viewId: string, parts: Partial<ChargeSeen> = {}): ChargeSeen {
  const otp = { until: nowMs + 600_000, triesLeft: 3 };
  return chargeOf(viewId, { state: { kind: 'otp' }, otp, bankWords: 'Code sent to 080****12', ...parts });
}

/** What the desk was asked for and did, in order, and what makes it answer otherwise. */
export type FakeDesk = ChargeDesk & {
  calls: string[];
  kept: Map<string, { word: string; terms: ChargeTerms }>;
  charges: Map<string, ChargeSeen>;
  codes: string[];
  /** What the desk puts into a modal that watches. */
  shows: (charge: ChargeSeen, viewerId: string) => void;
  answers: {
    away?: boolean;
    watchThrows?: Error;
    carryOnThrows?: Error;
    refusal?: CardRefusal;
    twin?: Twin;
    approval?: ApprovalNeeded;
    holds?: Record<string, CardHold>;
    unsure?: boolean;
    limits?: LimitVerdict;
    ownLimits?: OwnLimits;
    overLimit?: LimitRefusal;
    alertTaken?: AlertTaken;
    resentAt?: number;
    link?: { kind: 'created'; link: string } | { kind: 'not_created'; why: string };
  };
};

/** The desk's promises kept in memory: drafts by their word, one charge for a dialogue, one agent for a code. */
export function createFakeDesk(): FakeDesk {
  const calls: string[] = [];
  const kept: FakeDesk['kept'] = new Map();
  const charges: FakeDesk['charges'] = new Map();
  const codes: string[] = [];
  const answers: FakeDesk['answers'] = {};

  async function called(what: string): Promise<void> {
    calls.push(what);
    if (answers.away) throw new StoreUnavailable('the store is away');
  }
  function carryOn(what: string): () => Promise<void> {
    return async () => {
      await called(what);
      if (answers.carryOnThrows) throw answers.carryOnThrows;
    };
  }
  function change(reference: string, parts: Partial<ChargeSeen>): ChargeSeen {
    const next = { ...charges.get(reference)!, ...parts };
    charges.set(reference, next);
    return next;
  }
  function readDraft(viewId: string, draft: string): ChargeTerms | undefined {
    const found = kept.get(viewId);
    return found?.word === draft ? found.terms : undefined;
  }

  const desk: FakeDesk = {
    shows: () => undefined,
    calls,
    kept,
    charges,
    codes,
    answers,
    async keepDraft(viewId, terms) {
      await called(`keep ${viewId}`);
      const word = `draft${kept.size + calls.length}`;
      kept.set(viewId, { word, terms });
      return word;
    },
    async readDraft(viewId, draft) {
      await called(`read draft ${viewId}`);
      return readDraft(viewId, draft);
    },
    async review() {
      const { limits, refusal: hold, twin, approval } = answers;
      if (limits?.kind === 'refused') return { kind: 'over_limit', refusal: limits.refusal };
      return { kind: 'ready', ...withoutUndefined({ limits: limits?.seen, hold, twin, approval }) };
    },
    holdOf: async ({ card }) => answers.holds?.[card],
    limitsOf: async () => answers.ownLimits ?? { kind: 'none' },
    alertTaken: async () => answers.alertTaken,
    async submit({ viewId, draft, by, despite }) {
      await called(`submit ${viewId}`);
      const reference = `pay-${viewId}`;
      const known = charges.get(reference);
      if (known) return { kind: 'known', charge: known };
      const terms = readDraft(viewId, draft);
      if (!terms) return { kind: 'stale' };
      const taken = terms.alert === undefined ? undefined : answers.alertTaken;
      if (taken) return { kind: 'alert_taken', taken };
      if (answers.overLimit) return { kind: 'over_limit', refusal: answers.overLimit };
      if (answers.refusal) return { kind: 'refused', refusal: answers.refusal };
      if (answers.twin && answers.twin.reference !== despite) return { kind: 'twin', twin: answers.twin };
      if (answers.unsure) return { kind: 'unsure', reference };
      const { tokenKey: _secret, ...shown } = terms;
      const charge = chargeOf(viewId, { terms: shown, by, agent: by });
      charges.set(reference, charge);
      return { kind: 'begun', charge, carryOn: carryOn(`send ${reference}`) };
    },
    async find(reference) {
      await called(`find ${reference}`);
      return charges.get(reference);
    },
    async submitCode({ reference, code, by }) {
      await called(`code ${reference}`);
      const charge = charges.get(reference);
      if (!charge) return { kind: 'unknown_charge' };
      if (charge.state.kind !== 'otp') return { kind: 'not_open', charge };
      if (charge.agent !== by) return { kind: 'not_yours', charge };
      codes.push(code);
      return {
        kind: 'checking',
        charge: change(reference, { state: { kind: 'otp_checking' } }),
        carryOn: carryOn(`send code ${reference}`),
      };
    },
    async resendCode({ reference, by }) {
      await called(`resend ${reference}`);
      const charge = charges.get(reference);
      if (!charge) return { kind: 'unknown_charge' };
      if (charge.state.kind !== 'otp') return { kind: 'not_open', charge };
      if (charge.agent !== by) return { kind: 'not_yours', charge };
      if (answers.resentAt !== undefined) {
        return { kind: 'too_soon', charge, againAt: answers.resentAt + 30_000 };
      }
      const asked = change(reference, { resends: [{ at: nowMs, by }] });
      const send = carryOn(`ask for code ${reference}`);
      return {
        kind: 'asked',
        charge: asked,
        async carryOn() {
          await send();
          change(reference, { resends: [{ at: nowMs, by, answer: 'resent' }] });
        },
      };
    },
    async takeOver({ reference, by }) {
      await called(`take over ${reference}`);
      const charge = charges.get(reference);
      const handOver = { at: nowMs, from: charge?.agent ?? '', to: by };
      return charge && change(reference, { agent: by, handOvers: [...charge.handOvers, handOver] });
    },
    async lookUpNow({ reference }) {
      await called(`look up ${reference}`);
      return charges.get(reference);
    },
    async watch(reference, { id, userId, at }) {
      await called(`watch ${reference} ${id} ${userId}`);
      if (answers.watchThrows) throw answers.watchThrows;
      const charge = charges.get(reference);
      if (charge && charge.at > at) desk.shows(charge, userId);
    },
    async remind({ reference, by }) {
      await called(`remind ${reference} ${by}`);
    },
    async waitingFor(userId) {
      await called('waiting');
      return [...charges.values()].filter((charge) => charge.agent === userId && charge.state.kind === 'otp');
    },
    async inDoubt() {
      await called('doubt');
      const doubtful = [...charges.values()].filter(({ state }) => state.kind === 'confirming');
      return { charges: doubtful, unread: [] };
    },
    async recent(userId, max) {
      await called('recent');
      return [...charges.values()].filter(({ by }) => by === userId).slice(0, max);
    },
    async makeSavingLink({ reference }) {
      await called(`link ${reference}`);
      const charge = charges.get(reference);
      if (!charge) return { kind: 'unknown_charge' };
      const link = answers.link ?? { kind: 'not_created', why: 'nobody said what to answer' };
      return link.kind === 'created' ? { ...link, charge } : link;
    },
  };
  return desk;
}

/** The verbs on a fake desk; whatever they show is checked as Slack would, and kept in `outputs`. */
export function createStage(options: { cards?: SavedFake[]; ledger?: boolean } = {}) {
  const desk = createFakeDesk();
  const cards = options.cards ?? [adasCard, cardWithoutEmail];
  const ledger = {
    search: async (typed: string, max: number) =>
      cards.filter((card) => JSON.stringify(card.face).includes(typed)).slice(0, max),
    find: async (id: string) => cards.find((card) => card.id === id),
    idOf: async (key: string) => cards.find((card) => card.tokenKey === key)?.id ?? 'nobody',
  };
  const verbs = createVerbs({
    ...quietVerbs({ environment: 'live', account: 'Main shop' }),
    now: () => nowMs,
    desk,
    ledger: options.ledger === false ? undefined : ledger,
  });
  const outputs: unknown[] = [];
  const opened: Modal[] = [];
  const updated: Modal[] = [];
  const replies: SlackMessage[] = [];

  function show(modal: Modal): Modal {
    outputs.push(modal);
    const problems = findViewProblems(modal);
    if (problems.length > 0) throw new Error(`Slack would refuse this modal:\n${problems.join('\n')}`);
    return modal;
  }
  function say(message: SlackMessage): SlackMessage {
    outputs.push(message);
    const problems = findBlockProblems('message', message.blocks);
    if (problems.length > 0) throw new Error(`Slack would refuse this message:\n${problems.join('\n')}`);
    return message;
  }
  desk.shows = (charge, viewerId) => {
    const place = { environment: 'live', account: 'Main shop' } as const;
    updated.push(show(chargeStateModal(charge, place, { nowMs, viewerId })));
    desk.calls.push('update');
  };
  async function openModal(modal: Modal): Promise<string> {
    opened.push(show(modal));
    desk.calls.push('open');
    return `V0OPEN${opened.length}`;
  }

  return {
    desk,
    outputs,
    opened,
    updated,
    replies,
    verbs,
    verb: (name: string) => verbs.find(({ verb }) => verb === name)!,

    async type(text: string, userId = agent): Promise<SlackMessage | string | undefined> {
      const [name, ...words] = text.split(' ');
      const prepared = verbs.find(({ verb }) => verb === name)!.prepare(words);
      if (!prepared.ok) return prepared.problem;
      const message = await prepared.value.run({
        caller: { userId },
        openModal,
        whileWaiting: (work) => work,
      });
      return message && say(message);
    },

    async close(callbackId: string, privateMetadata: string): Promise<void> {
      const definitions = verbs.flatMap(({ modals }) => modals ?? []);
      const definition = definitions.find((modal) => modal.callbackId === callbackId)!;
      await definition.closed?.({ caller: { userId: agent }, viewId: 'V1', privateMetadata });
    },

    async submit(callbackId: string, parts: Partial<Submission> & { userId?: string }): Promise<ViewAnswer> {
      const { userId = agent, ...rest } = parts;
      const definition = verbs
        .flatMap(({ modals }) => modals ?? [])
        .find((modal) => modal.callbackId === callbackId)!;
      const answer = await definition.submit({
        caller: { userId },
        viewId: 'V1',
        privateMetadata: '',
        values: {},
        ...rest,
      });
      if (answer.kind === 'update') show(answer.modal);
      if (answer.kind === 'errors') outputs.push(answer);
      return answer;
    },

    async press(actionId: string, parts: Partial<Pressed> & { userId?: string } = {}): Promise<void> {
      const { userId = agent, ...rest } = parts;
      const { press } = verbs
        .flatMap(({ presses }) => presses ?? [])
        .find((candidate) => candidate.actionId === actionId)!;
      await press({
        caller: { userId },
        value: '',
        openModal,
        async updateModal(modal) {
          updated.push(show(modal));
          desk.calls.push('update');
        },
        async reply(message) {
          replies.push(say(message));
        },
        ...rest,
      });
    },
  };
}

export type Stage = ReturnType<typeof createStage>;
