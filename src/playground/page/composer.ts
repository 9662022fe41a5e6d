import { html, nothing, type TemplateResult } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { PageChannel } from '../../simulators/protocol.ts';
import { icon } from './icons.ts';
import type { Drawn } from './inline.ts';
import { drawMenu } from './menu.ts';
import { threadPlace, type Draw } from './model.ts';

type Command = { command: string; description: string; usageHint: string };

/** The commands that what is typed so far may become; none once a command is complete. */
function offeredCommands(draft: string, commands: Command[]): Command[] {
  return /^\/\S*$/.test(draft) ? commands.filter(({ command }) => command.startsWith(draft)) : [];
}

/** The command whose words are being typed. */
function startedCommand(draft: string, commands: Command[]): Command | undefined {
  return commands.find(({ command }) => draft.startsWith(`${command} `));
}

type At = { channel: PageChannel; threadTs?: string; id: string };

/** Where a person types. Slash commands are offered and described; in a thread Slack has none. */
export function drawComposer(at: At, draw: Draw): TemplateResult {
  const { channel, threadTs, id } = at;
  const place = threadPlace(channel.id, threadTs);
  const draft = draw.ui.drafts[place] ?? '';
  const commands = threadTs === undefined ? draw.page.slashCommands : [];
  const open = draft !== draw.ui.completion.closedFor;
  const offered = open ? offeredCommands(draft, commands) : [];
  const send = (): void => draw.dispatch({ kind: 'send', channel: channel.id, threadTs });
  const name = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  return html`<form
    class="composer"
    @submit=${(event: Event) => {
      event.preventDefault();
      send();
    }}
  >
    ${drawOffers(id, offered, { place, draw })} ${drawHint(draft, commands)}
    <div class="composer-box">
      <textarea
        id=${id}
        rows=${Math.min(6, draft.split('\n').length)}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded=${offered.length > 0 ? 'true' : 'false'}
        aria-controls="${id}-offers"
        aria-activedescendant=${offered.length > 0 ? `${id}-offer-${draw.ui.completion.marked}` : nothing}
        aria-label=${threadTs === undefined ? `Message ${name}` : 'Reply in thread'}
        placeholder=${threadTs === undefined ? `Message ${name}, or type / for commands` : 'Reply…'}
        spellcheck="false"
        .value=${live(draft)}
        @input=${(event: Event) =>
          draw.dispatch({ kind: 'draft', place, text: (event.currentTarget as HTMLTextAreaElement).value })}
        @keydown=${(event: KeyboardEvent) => typeKey(event, { place, draft, offered, send, draw })}
      ></textarea>
      <div class="composer-tools">
        ${drawShortcuts(id, draw)}
        <button type="submit" class="send" aria-label="Send" ?disabled=${draft.trim() === ''}>
          ${icon('send')}
        </button>
      </div>
    </div>
  </form>`;
}

function drawShortcuts(id: string, draw: Draw): Drawn {
  if (draw.page.globalShortcuts.length === 0) return nothing;
  return drawMenu({
    id: `${id}-shortcuts`,
    face: icon('bolt'),
    label: 'Shortcuts',
    className: 'tool',
    items: draw.page.globalShortcuts.map(({ callbackId, name }) => ({
      label: name,
      choose: () => draw.dispatch({ kind: 'act', action: { kind: 'global_shortcut', callbackId } }),
    })),
  });
}

function complete(command: Command, { place, draw }: { place: string; draw: Draw }): void {
  draw.dispatch({ kind: 'draft', place, text: `${command.command} ` });
}

function drawOffers(id: string, offered: Command[], at: { place: string; draw: Draw }): TemplateResult {
  const { marked } = at.draw.ui.completion;
  return html`<div class="offers" ?hidden=${offered.length === 0}>
    <ul id="${id}-offers" role="listbox" aria-label="Commands">
      ${offered.map(
        (command, index) =>
          html`<li
            id="${id}-offer-${index}"
            role="option"
            aria-selected=${index === marked ? 'true' : 'false'}
            @mousedown=${(event: Event) => {
              event.preventDefault();
              complete(command, at);
            }}
          >
            <b>${command.command}</b> <span class="usage">${command.usageHint}</span>
            <span class="offer-description">${command.description}</span>
          </li>`,
      )}
    </ul>
    <p class="offers-keys" aria-hidden="true">
      <kbd>↑</kbd><kbd>↓</kbd> choose <kbd>Tab</kbd> or <kbd>↵</kbd> complete <kbd>Esc</kbd> close
    </p>
  </div>`;
}

function drawHint(draft: string, commands: Command[]): Drawn {
  const started = startedCommand(draft, commands);
  if (!started) return nothing;
  return html`<p class="command-hint" role="status">
    <b>${started.command}</b> <span class="usage">${started.usageHint}</span>
    <span class="offer-description">${started.description}</span>
  </p>`;
}

type Typing = { place: string; draft: string; offered: Command[]; send: () => void; draw: Draw };

function typeKey(event: KeyboardEvent, typing: Typing): void {
  if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
  const act = typing.offered.length > 0 ? offerKey(event, typing) : plainKey(event, typing);
  if (!act) return;
  event.preventDefault();
  act();
}

function offerKey(event: KeyboardEvent, typing: Typing): (() => void) | undefined {
  const { draw, offered, draft, send } = typing;
  const { marked } = draw.ui.completion;
  const chosen = offered[marked];
  const mark = (next: number) => (): void =>
    draw.dispatch({ kind: 'mark_command', marked: (next + offered.length) % offered.length });
  const finish = (): void => {
    if (chosen) complete(chosen, typing);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: mark(marked + 1),
    ArrowUp: mark(marked - 1),
    Tab: finish,
    Enter: chosen?.command === draft ? send : finish,
    Escape: () => draw.dispatch({ kind: 'close_commands', draft }),
  };
  return event.shiftKey ? undefined : keys[event.key];
}

/** Arrows recall earlier lines only when nothing else would be lost: in an empty composer or a recalled line. */
function plainKey(event: KeyboardEvent, typing: Typing): (() => void) | undefined {
  const { draw, draft, place, send } = typing;
  if (event.key === 'Enter' && !event.shiftKey) return send;
  const recalling = draft === '' || draw.ui.commands.recalled !== undefined;
  if (!recalling) return undefined;
  if (event.key === 'ArrowUp') return () => draw.dispatch({ kind: 'recall', place, step: -1 });
  if (event.key === 'ArrowDown') return () => draw.dispatch({ kind: 'recall', place, step: 1 });
  return undefined;
}
