import { z } from 'zod';
import { problem } from '../../domain/wording.ts';
import type { ActResult, PageUser } from '../protocol.ts';
import type { BotAnswer } from './bot-delivery.ts';
import { unfilledInputs, type Values, withoutUntouched } from './elements.ts';
import { type ActDeps, interact, type ActionOf } from './interact.ts';
import { fill, readView, type View, viewPayload } from './views.ts';
import type { World } from './world.ts';

const trouble: ActResult = problem('We had some trouble connecting. Try again?');

/** Submits a modal and applies the acknowledgement; without one in time the modal stays. */
export async function submitView(
  deps: ActDeps,
  user: PageUser,
  submitted: ActionOf<'submit_view'>,
): Promise<ActResult> {
  const { world } = deps;
  const view = topView(world, user, submitted.viewId);
  if (view === undefined) return problem('That view is not in front of you any more.');
  if (view.busy) return problem('It is being sent already.');
  if (view.definition.submit === undefined) return problem('This view has nothing to submit.');
  fill(view, submitted.values);
  view.errors = unfilledInputs(view.blocks, view.values);
  if (Object.keys(view.errors).length > 0) {
    world.changed();
    return problem('Some fields need your attention.');
  }
  view.busy = true;
  world.changed();
  const payload = {
    type: 'view_submission',
    trigger_id: world.triggers.issue({ userId: user.id, fromModal: true }),
    view: { ...viewPayload(view), state: { values: sentState(world, view) } },
    response_urls: [],
  };
  view.oldState = undefined;
  const title = view.definition.title?.text ?? 'a form';
  const answer = await interact(deps, user, payload, `submits "${title}"`);
  view.busy = false;
  const result = obey(world, view, answer);
  world.changed();
  return result;
}

function sentState({ quirks }: World, view: View): Values {
  if (quirks.firstSubmissionIsOld === true && view.oldState !== undefined) return view.oldState;
  const isLost = quirks.untouchedInitialsAreNull === true && view.isUpdated;
  return isLost ? withoutUntouched(view.blocks, view.touched, view.values) : view.values;
}

/** The answers that the app may give: the Slack actions it uses. */
const acknowledgement = z.discriminatedUnion('response_action', [
  z.looseObject({ response_action: z.literal('update'), view: z.unknown() }),
  z.looseObject({ response_action: z.literal('errors'), errors: z.record(z.string(), z.string().min(1)) }),
]);

function obey(world: World, view: View, answer: BotAnswer): ActResult {
  if (answer.kind !== 'acknowledged') return trouble;
  if (answer.body === undefined || answer.body === '') {
    world.views.close(view);
    return { ok: true };
  }
  const read = acknowledgement.safeParse(answer.body);
  if (!read.success) return trouble;
  switch (read.data.response_action) {
    case 'errors':
      return showErrors(view, read.data.errors);
    case 'update':
      return showNext(world, view, read.data.view);
  }
}

/** Slack takes errors for input blocks of this view only. */
function showErrors(view: View, errors: Record<string, string>): ActResult {
  const inputs = new Set(
    view.blocks.filter((block) => block.type === 'input').map((block) => block.block_id),
  );
  const blockIds = Object.keys(errors);
  if (blockIds.length === 0 || blockIds.some((blockId) => !inputs.has(blockId))) return trouble;
  view.errors = errors;
  return { ok: true };
}

function showNext(world: World, view: View, next: unknown): ActResult {
  const read = readView(next, 'modal');
  if (read.kind === 'refused') return trouble;
  world.views.update(view, read.definition);
  return { ok: true };
}

/** Closes at once: the app never asks to be notified. */
export function closeView({ world }: ActDeps, user: PageUser, closed: ActionOf<'close_view'>): ActResult {
  const view = topView(world, user, closed.viewId);
  if (view === undefined) return problem('That view is not in front of you any more.');
  world.views.close(view);
  world.changed();
  return { ok: true };
}

function topView(world: World, user: PageUser, viewId: string): View | undefined {
  const top = world.views.stack(user.id).at(-1);
  return top?.id === viewId ? top : undefined;
}
