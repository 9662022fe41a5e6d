import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { boundDialogues } from '../../../src/operations/charge/bound-dialogues.ts';
import type { ChargeDesk, SubmitRequest } from '../../../src/operations/charge/charge-desk.ts';
import { openModelStore } from '../../store/model-store.ts';

const request: SubmitRequest = { viewId: 'V1', draft: 'd', by: 'U1' };

function deskOf(submitted: string[], name: string): ChargeDesk {
  const submit: ChargeDesk['submit'] = ({ viewId }) => {
    submitted.push(`${name} ${viewId}`);
    return Promise.resolve({ kind: 'stale' });
  };
  return { submit } as Partial<ChargeDesk> as ChargeDesk;
}

function away(): Promise<never> {
  return Promise.reject(new StoreUnavailable('away'));
}

describe('a dialogue', () => {
  it('charges for the first account it charged for, again and again, and for no other', async () => {
    const store = openModelStore(() => 1_000);
    const submitted: string[] = [];
    const [lagos, abuja] = ['lagos', 'abuja'].map((merchant) =>
      boundDialogues(deskOf(submitted, merchant), { store, merchant }),
    );
    await lagos?.submit(request);
    expect(await abuja?.submit(request)).toEqual({ kind: 'stale' });
    await lagos?.submit(request);
    await abuja?.submit({ ...request, viewId: 'V2' });
    expect(submitted).toEqual(['lagos V1', 'lagos V1', 'abuja V2']);
    await store.close();
  });

  it('charges for nobody while the store cannot say, and gives the reference to look for', async () => {
    const submitted: string[] = [];
    const desk = boundDialogues(deskOf(submitted, 'lagos'), {
      store: { create: away, read: away },
      merchant: 'lagos',
    });
    expect(await desk.submit(request)).toMatchObject({
      kind: 'unsure',
      reference: expect.stringMatching(/^pay-/),
    });
    expect(submitted).toEqual([]);
  });
});
