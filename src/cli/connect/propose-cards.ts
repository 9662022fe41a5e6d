import { isJsonObject, type JsonObject, plainLeavesOf, valueAt } from '../../domain/json.ts';
import { savedCardFields } from '../../config/saved-card-settings.ts';
import type { Config } from '../../config/config.ts';
import { counted } from '../../domain/wording.ts';
import type { PaymentsClient } from '../../payments/client.ts';
import { askSavedCards, type SavedCardShape, savedCardShape } from '../../payments/saved-cards.ts';
import { looseText } from '../../payments/wire.ts';
import type { Changes } from './draft.ts';

/** Asks for a list of cards with these query parameters. */
type AskList = (query: Readonly<Record<string, string>>) => Promise<{ status: number; body: unknown }>;

export type CardsProposal = FittingCards | { kind: 'none'; why: string };

export type FittingCards = {
  kind: 'fits';
  changes: Changes;
  query: string;
  list: string;
  cards: number;
  pages: number;
  /**
   * `whole`: there is one page. `followed`: further pages were read. `stuck`: the answer names a further page, but no
   * parameter gets it.
   */
  paging: 'whole' | 'followed' | 'stuck';
};

export function cardsWords({ cards, pages, paging }: FittingCards): string {
  const read = `${counted(cards, 'card')} on ${counted(pages, 'page')}`;
  if (paging === 'followed') return `${read}, each found by the one before.`;
  return paging === 'whole'
    ? `${read}, and the answer names no further one.`
    : `${read}. The answer names a further one, and no parameter that was tried brings it: set SAVED_CARDS_CURSOR_QUERY.`;
}

/** Asks the service, with the settings’ headers. */
export function listRequest(client: PaymentsClient, config: Config): AskList {
  const of = { accountId: config.paymentsAccountId ?? '', shape: savedCardShape(config) };
  return async (query) => {
    const { answer, body } = await askSavedCards(client, of, query);
    return { status: answer.response.status, body };
  };
}

const emailParameters = ['customerEmail', 'email', 'customer_email', 'emailAddress', 'customer'];
const pageParameters = ['cursor', 'page', 'nextCursor', 'pageToken', 'page_token', 'next', 'offset', 'after'];
const mostPages = 5;

/**
 * Finds out by trial how to list a customer's saved cards: the query parameter, the place of the list, the cards'
 * fields, and the next page. Asks at most a few dozen times, and only reads.
 */
export async function proposeCards(
  ask: AskList,
  email: string,
  current: SavedCardShape,
): Promise<CardsProposal> {
  const query = [
    current.savedCardsQuery,
    ...emailParameters.filter((name) => name !== current.savedCardsQuery),
  ];
  let worstStatus = 0;
  for (const name of query) {
    const { status, body } = await ask({ [name]: email });
    worstStatus = Math.max(worstStatus, status);
    const list = listIn(body, current);
    if (!list) continue;
    const fields = proposeFields(list.cards, email, current);
    if (!fields) {
      return {
        kind: 'none',
        why: `The list at ${list.pointer || 'the top'} has cards in which no field looks like a token.`,
      };
    }
    const { changes, ...paging } = await findPaging(ask, { [name]: email }, { body, list, fields, current });
    return {
      kind: 'fits',
      query: name,
      list: list.pointer,
      changes: {
        ...(name === current.savedCardsQuery ? {} : { SAVED_CARDS_QUERY: name }),
        ...(list.isCurrent ? {} : { SAVED_CARDS_LIST_POINTERS: list.pointer }),
        ...(fields.differ ? { SAVED_CARDS_FIELD_POINTERS: JSON.stringify(fields.pointers) } : {}),
        ...changes,
      },
      ...paging,
    };
  }
  const parameters = query.join(', ');
  return {
    kind: 'none',
    why: `No list of cards came (HTTP ${worstStatus}) with any of these parameters: ${parameters}. Does this customer have saved cards?`,
  };
}

type List = { pointer: string; cards: readonly JsonObject[]; isCurrent: boolean };

/** The list at the current settings' pointers, else the first list of objects that look like cards. */
function listIn(body: unknown, current: SavedCardShape): List | undefined {
  const ofSettings = current.savedCardsListPointers;
  const others = plainLeavesOf(body).flatMap(([at]) => /^(.*?)\/0\//.exec(at)?.[1] ?? []);
  for (const pointer of new Set([...ofSettings, ...others])) {
    const cards = cardsAt(body, pointer);
    if (cards) return { pointer, cards, isCurrent: ofSettings.includes(pointer) };
  }
  return undefined;
}

function cardsAt(body: unknown, pointer: string): readonly JsonObject[] | undefined {
  const found = valueAt(body, pointer);
  if (!Array.isArray(found) || found.length === 0 || !found.every(isJsonObject)) return undefined;
  return tokenIn(found[0] ?? {}) === undefined ? undefined : found;
}

function tokenIn(card: JsonObject): string | undefined {
  const texts = plainLeavesOf(card).filter(([, value]) => typeof value === 'string' && value.length >= 6);
  const named = (pattern: RegExp) =>
    texts.find(([at]) => pattern.test(at) && !/expir|date|type/i.test(at))?.[0];
  return named(/token.?key$/i) ?? named(/token/i) ?? named(/authori[sz]ation.?code$|card.?(id|ref|key)$/i);
}

/** `differ`: the current settings don't find every field. `token`: the pointer to a card's token. */
type Fields = { pointers: Changes; differ: boolean; token: string };

const fieldNames: Readonly<Record<(typeof savedCardFields)[number], RegExp>> = {
  tokenKey: /token/i,
  cardType: /type|brand|scheme|network/i,
  tokenExpiryDate: /expir|valid/i,
  cardPan: /pan|last.?(4|four)|mask|number|digits/i,
  customerEmail: /e?mail/i,
};

/** Pointers to the fields of a card; undefined: no field looks like a token. */
function proposeFields(
  cards: readonly JsonObject[],
  email: string,
  current: SavedCardShape,
): Fields | undefined {
  const [card = {}] = cards;
  const token = tokenIn(card);
  if (token === undefined) return undefined;
  const leaves = plainLeavesOf(card);
  const found = savedCardFields.map((field) => {
    const known = current.savedCardsFieldPointers[field].find((at) => !missing(valueAt(card, at)));
    if (known !== undefined) return [field, known, true] as const;
    if (field === 'tokenKey') return [field, token, false] as const;
    const byValue = field === 'customerEmail' ? leaves.find(([, value]) => value === email)?.[0] : undefined;
    const byName = leaves.find(
      ([at, value]) => at !== token && fieldNames[field].test(at) && !missing(value),
    )?.[0];
    return [field, byValue ?? byName, false] as const;
  });
  const moved = found.filter(([, at, isCurrent]) => at !== undefined && !isCurrent);
  // The setting is replaced as a whole, so keep its other fields.
  const set = found.filter(([field, at]) => at !== undefined && at !== `/${field}`);
  const pointers = Object.fromEntries(set.map(([field, at]) => [field, at ?? '']));
  const tokenPointer = found.find(([field]) => field === 'tokenKey')?.[1] ?? token;
  return { pointers, differ: moved.length > 0, token: tokenPointer };
}

function missing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || typeof value === 'object';
}

type Paging = { changes: Changes; cards: number; pages: number; paging: 'whole' | 'followed' | 'stuck' };
type FirstPage = { body: unknown; list: List; fields: Fields; current: SavedCardShape };

/**
 * Tries places of the cursor in the answer, each with parameters of the next request. A combination is right if it
 * brings cards that the first page doesn't have.
 */
async function findPaging(
  ask: AskList,
  email: Readonly<Record<string, string>>,
  first: FirstPage,
): Promise<Paging> {
  const { body, list, fields, current } = first;
  const places = cursorPointers(body, list, current).filter((at) =>
    isFurtherCursor(valueAt(body, at), current),
  );
  for (const place of places) {
    for (const parameter of parametersFor(place, current)) {
      const read = await readPages((at) => ask({ ...email, [parameter]: at }), place, first);
      if (read.pages === 1) continue;
      const { last, ...counts } = read;
      const isCurrent =
        current.savedCardsCursorPointers.find((at) => valueAt(body, at) !== undefined) === place;
      return {
        ...counts,
        changes: {
          ...(isCurrent ? {} : { SAVED_CARDS_CURSOR_POINTERS: place }),
          ...(parameter === current.savedCardsCursorQuery ? {} : { SAVED_CARDS_CURSOR_QUERY: parameter }),
          ...(last === '' || current.savedCardsLastCursors.includes(last)
            ? {}
            : { SAVED_CARDS_LAST_CURSORS: last }),
        },
        paging: 'followed',
      };
    }
  }
  const cards = new Set(tokensAt(body, list, fields)).size;
  return { changes: {}, cards, pages: 1, paging: places.length > 0 ? 'stuck' : 'whole' };
}

/**
 * Reads further pages until the last one, or until a page brings no new cards. `last`: the cursor value that marked the
 * end; empty if no such value came.
 */
async function readPages(
  askFor: (cursor: string) => ReturnType<AskList>,
  place: string,
  { body, list, fields, current }: FirstPage,
): Promise<{ cards: number; pages: number; last: string }> {
  const known = new Set(tokensAt(body, list, fields));
  let next = textAt(body, place);
  let pages = 1;
  while (isFurtherCursor(next, current) && pages < mostPages) {
    const page = await askFor(next);
    const tokens = tokensAt(page.body, list, fields);
    if (tokens.every((token) => known.has(token))) break;
    for (const token of tokens) known.add(token);
    pages += 1;
    next = textAt(page.body, place);
  }
  const isEnd = pages > 1 && !isFurtherCursor(next, current);
  return { cards: known.size, pages, last: isEnd ? next : '' };
}

/** The text, number or boolean at that pointer, as text; empty for anything else. */
function textAt(body: unknown, at: string): string {
  return looseText.parse(valueAt(body, at)) ?? '';
}

function tokensAt(body: unknown, list: List, { token }: Fields): string[] {
  const found = valueAt(body, list.pointer);
  const cards = Array.isArray(found) ? found.filter(isJsonObject) : [];
  return cards.map((card) => String(valueAt(card, token)));
}

/** Pointers where the cursor may be: the settings' own first, then fields with likely names. */
function cursorPointers(body: unknown, list: List, current: SavedCardShape): string[] {
  const beside = outsideList(body, list);
  const named = (pattern: RegExp) => beside.filter((at) => pattern.test(at));
  const all = [
    ...current.savedCardsCursorPointers.filter((at) => valueAt(body, at) !== undefined),
    ...named(/next/i),
    ...named(/cursor|continu|after|more.?from/i),
  ];
  return [...new Set(all)].filter((at) => !/prev|limit|size|total|count|has/i.test(at));
}

/** Pointers to all values outside the list, also to null. */
function outsideList(body: unknown, list: List): string[] {
  return plainLeavesOf(body).flatMap(([at]) =>
    at.startsWith(`${list.pointer}/`) && /\/\d+\//.test(at) ? [] : [at],
  );
}

function isFurtherCursor(
  value: unknown,
  { savedCardsLastCursors: last }: Pick<SavedCardShape, 'savedCardsLastCursors'>,
): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  return !last.includes(String(value)) && !/^(|0|-1|false|null|none|end)$/i.test(String(value));
}

function parametersFor(place: string, { savedCardsCursorQuery: current }: SavedCardShape): string[] {
  const name = place.slice(place.lastIndexOf('/') + 1);
  const stem = name.replace(/^next[_-]?/i, '').replace(/^./, (first) => first.toLowerCase());
  return [...new Set([current, stem, name, ...pageParameters])].filter(
    (each) => /^[\w.[\]-]{1,64}$/.test(each) && each !== 'none',
  );
}
