import { z } from 'zod';
import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import { type ActDeps, no } from './act-result.ts';
import type { BotAnswer } from './bot-line.ts';
import { completeValues, unfilledInputs } from './elements.ts';
import { commonPayload } from './payloads.ts';
import { readView, type View, viewPayload } from './views.ts';
import type { World } from './world.ts';

const trouble: ActResult = { ok: false, problem: 'We had some trouble connecting. Try again?' };

/** Sends a modal's form and does what the acknowledgement says; without one in time the modal stays as it was. */
export async function submitView(
  deps: ActDeps,
  user: PageUser,
  submitted: Extract<WorkspaceAction, { kind: 'submit_view' }>,
): Promise<ActResult> {
  const { world } = deps;
  const view = topView(world, user, submitted.viewId);
  if (view === undefined) return no('That view is not in front of you any more.');
  if (view.busy) return no('It is being sent already.');
  if (view.definition.submit === undefined) return no('This view has nothing to submit.');
  view.values = completeValues(view.blocks, submitted.values);
  view.errors = unfilledInputs(view.blocks, view.values);
  if (Object.keys(view.errors).length > 0) {
    world.changed();
    return no('Some fields need your attention.');
  }
  view.busy = true;
  world.changed();
  const answer = await deps.line.send(
    {
      kind: 'interactive',
      payload: {
        type: 'view_submission',
        ...commonPayload(user),
        trigger_id: world.triggers.issue({ userId: user.id, fromModal: true }),
        view: viewPayload(view),
        response_urls: [],
      },
    },
    `${user.realName} submits "${view.definition.title?.text ?? 'a form'}"`,
  );
  view.busy = false;
  const result = obey(world, view, answer);
  world.changed();
  return result;
}

/** What the app may answer: of Slack's actions, those that it uses. */
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

/** Closes at once; an app that asked to know is told afterwards, and what it answers changes nothing. */
export async function closeView(
  deps: ActDeps,
  user: PageUser,
  closed: Extract<WorkspaceAction, { kind: 'close_view' }>,
): Promise<ActResult> {
  const { world } = deps;
  const view = topView(world, user, closed.viewId);
  if (view === undefined) return no('That view is not in front of you any more.');
  world.views.close(view);
  world.changed();
  if (view.definition.notify_on_close === true) {
    const payload = {
      type: 'view_closed',
      ...commonPayload(user),
      view: viewPayload(view),
      is_cleared: false,
    };
    await deps.line.send(
      { kind: 'interactive', payload },
      `${user.realName} closes "${view.definition.title?.text ?? 'a view'}"`,
    );
  }
  return { ok: true };
}

function topView(world: World, user: PageUser, viewId: string): View | undefined {
  const top = world.views.stack(user.id).at(-1);
  return top?.id === viewId ? top : undefined;
}
