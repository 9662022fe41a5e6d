const nearEndPx = 60;

/**
 * Call before drawing; the returned function, called after, scrolls each list that stood at its end to its
 * new end, and a list that shows another conversation than before to its end. One that a person has scrolled
 * up stays where it is.
 */
export function keepAtEnd(root: ParentNode): () => void {
  const selector = '[role=log]';
  const before = new Map<Element, string | null>();
  for (const list of root.querySelectorAll(selector)) {
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < nearEndPx;
    if (!atEnd) before.set(list, list.getAttribute('aria-label'));
  }
  return () => {
    for (const list of root.querySelectorAll(selector)) {
      const leftAlone = before.has(list) && before.get(list) === list.getAttribute('aria-label');
      if (!leftAlone) list.scrollTop = list.scrollHeight;
    }
  };
}
