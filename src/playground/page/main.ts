import { render } from 'lit/html.js';
import { keepCovered } from './blocks.ts';
import { drawFrame } from './frame.ts';
import { syncDialogs } from './modal.ts';
import { be, drawWith, focusSoon } from './state.ts';

const root = document.body;
const nearEndPx = 60;
let isFirst = true;

/** Scrolls each list that stood at its end to its new end, and one that shows another conversation than before; a list that a person has scrolled up stays. */
function keepAtEnd(): () => void {
  const before = new Map<Element, string | null>();
  for (const list of root.querySelectorAll('[role=log]')) {
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < nearEndPx;
    if (!isAtEnd) before.set(list, list.getAttribute('aria-label'));
  }
  return () => {
    for (const list of root.querySelectorAll('[role=log]')) {
      const isLeftAlone = before.has(list) && before.get(list) === list.getAttribute('aria-label');
      if (!isLeftAlone) list.scrollTop = list.scrollHeight;
    }
  };
}

drawWith(() => {
  const settle = keepAtEnd();
  const focused = document.activeElement;
  keepCovered();
  if (isFirst) root.replaceChildren();
  render(drawFrame(), root);
  syncDialogs(focused);
  settle();
  if (isFirst) focusSoon('#composer');
  isFirst = false;
});
be(new URL(location.href).searchParams.get('user') ?? undefined);
