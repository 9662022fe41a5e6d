import { render } from 'lit/html.js';
import { act, follow, readExchange } from './connection.ts';
import { syncDialogs } from './dialog-focus.ts';
import { initialModel, type Effect, type Model, type UiEvent } from './model.ts';
import { keepAtEnd } from './scroll.ts';
import { step } from './step.ts';
import { drawPage } from './view.ts';

const guideKey = 'payops-guide-hidden';
const root = document.getElementById('root');
const asked = new URL(location.href).searchParams.get('user') ?? undefined;
let model: Model = initialModel(asked, String(Date.now() / 1000), localStorage.getItem(guideKey) === 'yes');
let stop = (): void => {};
let drawing = false;

function dispatch(event: UiEvent): void {
  const next = step(model, event);
  model = next.model;
  for (const effect of next.effects) carryOut(effect);
  if (drawing) return;
  drawing = true;
  queueMicrotask(draw);
}

function draw(): void {
  drawing = false;
  if (!root) return;
  const settle = keepAtEnd(root);
  const focused = document.activeElement;
  render(drawPage(model, dispatch), root);
  syncDialogs(root, focused);
  settle();
}

function carryOut(effect: Effect): void {
  switch (effect.kind) {
    case 'act':
      void doAct(effect);
      return;
    case 'connect':
      connect(effect.userId);
      return;
    case 'read_exchange':
      void showExchange(effect.id);
      return;
    case 'keep_guide_hidden':
      localStorage.setItem(guideKey, effect.hidden ? 'yes' : 'no');
      return;
    case 'copy':
      void copy(effect);
      return;
    case 'focus':
      setTimeout(() => document.querySelector<HTMLElement>(effect.selector)?.focus());
  }
}

async function doAct({ action }: Extract<Effect, { kind: 'act' }>): Promise<void> {
  const userId = model.userId;
  if (userId === undefined) return;
  dispatch({ kind: 'acted', action, result: await act(userId, action) });
}

/** A browser may refuse; the text stands on the page to be copied by hand. */
async function copy({ key, text }: Extract<Effect, { kind: 'copy' }>): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    dispatch({ kind: 'copied', key });
  } catch {
    dispatch({ kind: 'problem', problem: 'This browser does not let the page copy. Mark the text instead.' });
  }
}

async function showExchange(id: number): Promise<void> {
  const exchange = await readExchange(id);
  if (exchange) dispatch({ kind: 'exchange_read', exchange });
}

/** The person stands in the address, so that a second tab can be somebody else. */
function connect(userId: string | undefined): void {
  stop();
  if (userId !== undefined) history.replaceState(null, '', `?user=${encodeURIComponent(userId)}`);
  stop = follow(userId, {
    state: (page) => dispatch({ kind: 'received', page }),
    connection: (connection) => dispatch({ kind: 'connection', connection }),
  });
}

connect(asked);
draw();
