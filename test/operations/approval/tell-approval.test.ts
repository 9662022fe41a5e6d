import { expect, it } from 'vitest';
import type { Approval } from '../../../src/domain/approval.ts';
import { readOutboxRecord, writeOutboxRecord } from '../../../src/operations/outbox/outbox.ts';
import { approvalCardKey } from '../../../src/operations/approval/prepare-approval.ts';
import { createTellApproval } from '../../../src/operations/approval/tell-approval.ts';
import { referenceOf } from '../../../src/operations/work/reference-of.ts';
import { ada, bola, openWorld, terms } from '../charge-house.ts';
import { sealer } from '../house.ts';

const before = 'C0BEFORE01';
const redrive: Approval = {
  id: 'apr-1',
  shown: { kind: 'redrive', channel: 'C0ALERTS01' },
  termsHash: 'hash',
  rule: 'Delivering again what Slack refused needs one approver',
  by: ada,
  askedAtMs: 0,
  expiresAtMs: 1,
  needed: 1,
  approvals: [],
  isWarned: false,
  state: { kind: 'waiting' },
};

it.each([
  ['names another channel by then', 'C0AFTER001'],
  ['has no approvals any more', undefined],
])('a request’s card is edited where it stands though the policy file %s', async (_, after) => {
  const { store } = openWorld('approved');
  const telling = (channel: string | undefined) =>
    createTellApproval({
      store,
      sealer,
      channel,
      approvers: async () => [ada, bola],
      find: async () => redrive,
      show: async () => undefined,
      rememberMs: 60_000,
      now: () => 0,
      wake: () => undefined,
    });
  await telling(before).refresh(redrive);
  const key = approvalCardKey(redrive.id, before);
  const posted = await store.read(key);
  if (!posted) throw new Error('nothing was told');
  const { progress: _waiting, ...record } = readOutboxRecord(posted.value);
  const ts = { channel: before, ts: '1.1' };
  await store.write(posted, writeOutboxRecord({ ...record, posted: ts, progress: { kind: 'done' } }));

  const refused = { ...redrive, state: { kind: 'refused', atMs: 1, by: bola, reason: 'no' } } as const;
  await telling(after).refresh(refused);
  expect(readOutboxRecord((await store.read(key))?.value ?? '').progress).toEqual({ kind: 'waiting' });
  expect(await store.read(approvalCardKey(redrive.id, 'C0AFTER001'))).toBeUndefined();
});

it('a window that shows the charge by now is not put back to the request by a replica that is behind', async () => {
  const { money, card, customerEmail } = terms;
  const reference = referenceOf('V0CHARGE1');
  const shown = {
    kind: 'charge',
    reference,
    money,
    card,
    cardFingerprint: 'card',
    customerEmail,
  } as const;
  const waiting: Approval = { ...redrive, id: reference, shown };
  let kept = waiting;
  const windows: string[] = [];
  const telling = createTellApproval({
    store: openWorld('approved').store,
    sealer,
    channel: before,
    approvers: async () => [bola],
    find: async () => kept,
    show: async ({ state }, _asked, views) =>
      void windows.push(...views.map(({ id }) => `${id} ${state.kind}`)),
    rememberMs: 60_000,
    now: () => 0,
    wake: () => undefined,
  });
  await telling.watch(waiting, { id: 'V1', userId: ada });
  await telling.refresh(waiting);
  kept = { ...waiting, state: { kind: 'executed', atMs: 1, result: 'The charge was begun.' } };
  await telling.refresh(waiting);
  kept = { ...waiting, state: { kind: 'expired', atMs: 1 } };
  await telling.refresh(waiting);
  expect(windows).toEqual(['V1 waiting', 'V1 expired']);
});
