import { type ApiAnswer, granted, type Method, method, optionalText, refused, text } from './api-answer.ts';
import { parsedJson } from './message-content.ts';
import type { Trigger } from './ids.ts';
import { readView, type View, type ViewDefinition, viewPayload } from './views.ts';
import type { World } from './world.ts';

/** views.*: modals and the App Home. No scope is needed; a fresh trigger is. */

export const viewMethods: Record<string, Method> = {
  'views.open': method({}, { trigger_id: text }, (world, given, raw) =>
    withTrigger(world, given.trigger_id, raw['view'], (trigger, definition) =>
      world.views.open(trigger.userId, definition),
    ),
  ),
  'views.push': method({}, { trigger_id: text }, (world, given, raw) =>
    withTrigger(world, given.trigger_id, raw['view'], (trigger, definition) => {
      if (!trigger.fromModal || world.views.stack(trigger.userId).length === 0) return 'invalid_trigger_id';
      return world.views.push(trigger.userId, definition) ?? 'push_limit_reached';
    }),
  ),
  'views.update': method({}, { view_id: text, hash: optionalText }, update),
  'views.publish': method({}, { user_id: text, hash: optionalText }, publish),
};

type Show = (trigger: Trigger, definition: ViewDefinition) => View | string;

function withTrigger(world: World, triggerId: string, raw: unknown, show: Show): ApiAnswer {
  const read = readView(parsedJson(raw), 'modal');
  if (read.kind === 'refused') return refused(read.error, read.messages);
  const redeemed = world.triggers.check(triggerId);
  if (redeemed.kind === 'refused') return refused(redeemed.error);
  const shown = show(redeemed.trigger, read.definition);
  if (typeof shown === 'string') return refused(shown);
  world.triggers.spend(triggerId);
  return answerWith(world, shown);
}

function update(
  world: World,
  given: { view_id: string; hash?: string | undefined },
  raw: Record<string, unknown>,
): ApiAnswer {
  const view = world.views.find(given.view_id);
  const read = readView(parsedJson(raw['view']), view?.definition.type ?? 'modal');
  if (read.kind === 'refused') return refused(read.error, read.messages);
  if (view === undefined) return refused('not_found');
  if (given.hash !== undefined && given.hash !== view.hash) return refused('hash_conflict');
  world.views.update(view, read.definition);
  return answerWith(world, view);
}

function publish(
  world: World,
  given: { user_id: string; hash?: string | undefined },
  raw: Record<string, unknown>,
): ApiAnswer {
  if (!world.app.homeTab) return refused('not_enabled');
  if (world.directory.user(given.user_id) === undefined) {
    return refused('invalid_arguments', ['[ERROR] user_id: no such user']);
  }
  const read = readView(parsedJson(raw['view']), 'home');
  if (read.kind === 'refused') return refused(read.error, read.messages);
  const shown = world.views.home(given.user_id);
  if (given.hash !== undefined && given.hash !== shown?.hash) return refused('hash_conflict');
  return answerWith(world, world.views.publish(given.user_id, read.definition));
}

function answerWith(world: World, view: View): ApiAnswer {
  world.changed();
  return granted({ view: viewPayload(view) });
}
