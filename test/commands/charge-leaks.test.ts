import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { withoutUndefined } from '../../src/domain/without-undefined.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import { chargeModalId } from '../../src/slack/charge/charge-modal.ts';
import { termsModalId } from '../../src/slack/charge/terms-modal.ts';
import type { ViewAnswer } from '../../src/slack/command.ts';
import { findCanaries } from '../support/canaries.ts';
import { agree, fields, form, pasted, sends, suggested, twin } from './charge-form.ts';
import {
  adasCard,
  cardWithoutEmail,
  chargeOf,
  createStage,
  pastedToken,
  tokenKey,
  type SavedFake,
} from './charge-stage.ts';
import { carriedOn, inputs, modalOf, textOf, view } from './shown-modal.ts';

describe('what leaves the verb', () => {
  it('never holds a token key: no modal, message, metadata or thrown error', async () => {
    const thrown: unknown[] = [];
    const stage = createStage();
    async function attempt(work: () => Promise<unknown>): Promise<void> {
      await work().catch((error: unknown) => thrown.push(error));
    }
    const both = { ...form, [fields.token]: pastedToken };
    const spaced = { ...pasted, [fields.token]: `${pastedToken} ${tokenKey}` };
    for (const values of [form, pasted, both, spaced, { ...pasted, [fields.email]: 'no' }]) {
      // oxlint-disable-next-line no-await-in-loop
      await attempt(async () => {
        const answer = await stage.submit(chargeModalId, { values, viewId: 'V1' });
        if (answer.kind !== 'update') return;
        await stage.press(chargeActions.change, { view: view(answer.modal) });
        stage.desk.answers.twin = twin;
        const asked = modalOf(await agree(stage, answer.modal));
        delete stage.desk.answers.twin;
        await carriedOn(await agree(stage, asked));
      });
      stage.desk.charges.clear();
    }
    stage.desk.charges.set('pay-V1', chargeOf('V1', { card: 'card1' }));
    await attempt(() => stage.press(chargeActions.another, { value: 'pay-V1' }));
    await attempt(async () => stage.outputs.push(await suggested(stage, '')));
    stage.desk.answers.away = true;
    await attempt(() => stage.submit(chargeModalId, { values: pasted }));
    expect(thrown).toHaveLength(1);
    expect(stage.outputs.length).toBeGreaterThan(12);
    const places = {
      outputs: textOf(stage.outputs),
      errors: thrown.map((error) => `${String(error)} ${(error as Error).stack} ${textOf(error)}`).join(),
      calls: textOf(stage.desk.calls),
    };
    expect(findCanaries({ tokenKey, pastedToken }, places)).toEqual([]);
  });

  it('is a form Slack takes or an error at a field it has, whatever the form held', async () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom(
        'card1',
        'card2',
        '12,500.00',
        'NGN',
        'x'.repeat(3000),
        'ada@example.com',
        'مرحبا@ex.am',
      ),
      fc.constantFrom(
        '9007199254740991',
        '90071992547409.91',
        tokenKey,
        pastedToken,
        '<!channel>',
        '😀'.repeat(90),
      ),
    );
    const email = fc.oneof(fc.constantFrom('ada@example.com', 'zoe@example.org', 'مرحبا@ex.am'), nasty);
    const optional = {
      [fields.email]: email,
      [fields.customerId]: fc.string({ unit: 'grapheme', maxLength: 60 }),
      [fields.reason]: nasty,
    };
    const every = Object.fromEntries(Object.values(fields).map((id) => [id, nasty]));
    // Two in three are nearly right, or nothing would ever be read back.
    const values: fc.Arbitrary<Record<string, string>> = fc
      .tuple(
        fc.constantFrom(form, pasted, {}),
        fc.oneof(
          { weight: 2, arbitrary: fc.record(optional, { requiredKeys: [] }) },
          fc.record(every, { requiredKeys: [] }),
        ),
      )
      .map(([base, more]) => withoutUndefined({ ...base, ...more }) as Record<string, string>);
    let readBacks = 0;
    await fc.assert(
      fc.asyncProperty(values, nasty, fc.boolean(), fc.boolean(), async (given, face, isTwin, isAway) => {
        const oddCard: SavedFake = {
          // The bot's own ids, which fit what Slack takes for a value.
          id: (given[fields.card] ?? 'card1').slice(0, 150),
          face: { cardType: face, lastFour: face },
          customerEmail: isTwin ? 'ada@example.com' : face,
          tokenKey,
        };
        const stage = createStage({ cards: [oddCard, adasCard, cardWithoutEmail] });
        await stage.type('charge');
        const known = Object.keys(inputs(stage.opened[0]!));
        const answer = await stage.submit(chargeModalId, { values: given });
        if (answer.kind === 'errors') {
          const said = Object.entries(answer.errors);
          return said.length > 0 && said.every(([id, words]) => known.includes(id) && words !== '');
        }
        readBacks += 1;
        const terms = modalOf(answer);
        await stage.press(chargeActions.change, { view: view(terms) });
        if (isTwin) stage.desk.answers.twin = twin;
        stage.desk.answers.away = isAway;
        const agreed = await agree(stage, terms).catch((error: unknown) => error);
        if (isAway) return agreed instanceof StoreUnavailable;
        await carriedOn(agreed as ViewAnswer);
        return true;
      }),
      { numRuns: 500 },
    );
    expect(readBacks).toBeGreaterThan(50);
  });

  it('is words for terms of any shape, whatever stood in the metadata', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (privateMetadata) => {
        const stage = createStage();
        expect((await stage.submit(termsModalId, { privateMetadata })).kind).toBe('update');
        expect(sends(stage)).toEqual([]);
      }),
    );
  });
});
