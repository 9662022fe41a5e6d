// What became of a new account, in a modal and, for who has closed it, as a direct message.

import { parseAccountKey, type Account, type AccountEnd, type NewAccount } from '../../domain/account.ts';
import { counted } from '../../domain/counted.ts';
import type { NotMade } from '../../domain/charge-answer.ts';
import { actions, button, code, headline, modal, person, richText, words, type Run } from '../blocks.ts';
import { labelled, plain } from '../charge/charge-facts.ts';
import { messageFoot, placeTitle, type ChargePlace } from '../charge/charge-place.ts';
import { quoted, word } from '../evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../message.ts';
import { accountActions } from './account-actions.ts';
import { accountFacts, accountFoot } from './account-message.ts';

/** Nothing is submitted in any of these. */
const endModalId = 'account_new_end';

export type Asked = {
  wanted: NewAccount;
  /** Somebody asked for it before; nothing is asked for again. */
  askedBy?: string;
};

/** While the service is asked. It stays only when the bot ends meanwhile, so it says what is true then, too. */
export function creatingModal({ wanted, askedBy }: Asked, place: ChargePlace): Modal {
  const state = askedBy === undefined ? '⏳ Creating the account …' : '⏳ Looking up the account …';
  return modal({
    callbackId: endModalId,
    title: placeTitle('New account', place),
    blocks: [
      headline(state, named(wanted)).block,
      richText(
        plain('What becomes of it follows here. You may close this: then you are told by direct message.'),
        ...earlierLine(askedBy),
        labelled(
          'If nothing comes within a minute',
          'the account may have been created: ',
          ...lookUpWords(wanted),
        ),
      ),
      accountFoot(place),
    ],
  });
}

export function accountEndModal(end: AccountEnd, asked: Asked, place: ChargePlace): Modal {
  const { state, blocks } = endParts(end, asked);
  const { wanted } = asked;
  const again = end.kind === 'not_made' && end.failure !== 'unauthorized' && end.failure !== 'forbidden';
  const buttons = [
    ...(end.kind === 'doubt' ? lookUpButtons(wanted) : []),
    ...(again ? [button({ actionId: accountActions.again, text: 'Correct and try again' })] : []),
  ];
  return modal({
    callbackId: endModalId,
    title: placeTitle('New account', place),
    blocks: [
      headline(state, named(wanted)).block,
      ...blocks,
      ...(buttons.length === 0 ? [] : [actions(...buttons)]),
      accountFoot(place),
    ],
    // The form's own texts, so that they need not be typed again; secret ones are not among them.
    privateMetadata: again ? metadataOf(wanted) : '',
  });
}

/** The same for who has closed the modal. */
export function accountEndMessage(
  end: AccountEnd,
  asked: Asked,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const { state, blocks } = endParts(end, asked);
  const { text, block } = headline(state, named(asked.wanted));
  const buttons = end.kind === 'doubt' ? lookUpButtons(asked.wanted) : [];
  return {
    text,
    blocks: [
      block,
      ...blocks,
      ...(buttons.length === 0 ? [] : [actions(...buttons)]),
      messageFoot(place, 'answered', nowMs),
    ],
  };
}

/** Longer than Slack keeps: then the form is empty again. */
const longestMetadata = 3_000;

function metadataOf(wanted: NewAccount): string {
  const text = JSON.stringify(wanted);
  return text.length > longestMetadata ? '' : text;
}

type Parts = { state: string; blocks: HomeBlock[] };

function endParts(end: AccountEnd, { wanted, askedBy }: Asked): Parts {
  switch (end.kind) {
    case 'created':
      return {
        state: '✓ Account created',
        blocks: [
          richText(
            end.by === 'answer'
              ? plain('The service says that the account is created.')
              : plain('The service knows the account: it was looked up by its reference.'),
            ...earlierLine(askedBy),
          ),
          ...accountFacts({ ...shownOf(wanted), ...end.account }),
        ],
      };
    case 'not_made':
      return notMadeParts(end);
    case 'doubt':
      return {
        state: '❔ In doubt: the account may have been created',
        blocks: [
          richText(
            labelled('What happened', 'the payments service gave no answer that says whether it did it.'),
            labelled('Looked up', doubtWords[end.lookUp]),
            ...earlierLine(askedBy),
            labelled(
              'Next',
              ...lookUpWords(wanted),
              ' Ask again only once you are sure that it is not there.',
            ),
          ),
          ...quoted('The service says:', end.said),
        ],
      };
  }
}

const doubtWords: Record<Extract<AccountEnd, { kind: 'doubt' }>['lookUp'], string> = {
  not_found: 'not found so far. The service may still be at work on it.',
  another: 'this reference belongs to an account of another name. Whether that is yours is not known.',
  failed: 'no usable answer either.',
  impossible: 'not possible, because it was asked for without a reference.',
};

function notMadeParts(end: NotMade): Parts {
  const state = '✗ Account not created';
  switch (end.failure) {
    case 'unauthorized':
      return told(
        state,
        'the service refused the bot’s access token.',
        'trying again will not help. Whoever runs this bot must check its credentials and account id.',
      );
    case 'forbidden':
      return told(
        state,
        'the service does not allow this to the bot’s account.',
        'trying again will not help. Whoever runs this bot must ask the payments service for the permission.',
      );
    case 'rate_limited':
      return told(state, 'the service’s call limit was reached.', waitWords(end.cause.retryAfterMs));
    case 'invalid_request': {
      const { blocks } = told(
        state,
        'the service found the request itself invalid.',
        'correct what its words name. A reference, a telephone number or an e-mail may belong to another account.',
      );
      return { state, blocks: [...blocks, ...quoted('The service’s own words:', end.message)] };
    }
  }
}

function waitWords(retryAfterMs: number | undefined): string {
  const wait =
    retryAfterMs === undefined ? 'a few minutes' : counted(Math.ceil(retryAfterMs / 1_000), 'second');
  return `try again in ${wait}.`;
}

function told(state: string, why: string, next: string): Parts {
  return { state, blocks: [richText(labelled('Why', why), labelled('Next', next))] };
}

function named(wanted: NewAccount): string[] {
  return [word(wanted['accountName']) ?? '', word(wanted['accountRef']) ?? ''];
}

/** What was asked for, in the place of what the service does not repeat. */
function shownOf(wanted: NewAccount): Account {
  const { accountRef, accountName, type, currency, email, phoneNumber, address, description } = wanted;
  const given = { accountRef, accountName, type, currency, email, phoneNumber, address, description };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function earlierLine(askedBy: string | undefined): Run[][] {
  if (askedBy === undefined) return [];
  return [
    labelled(
      'Asked for before',
      'by ',
      person(askedBy),
      '. Nothing is asked for a second time under one reference.',
    ),
  ];
}

function lookUpWords(wanted: NewAccount): Run[] {
  const ref = wanted['accountRef'];
  return ref === undefined
    ? [words('look for it in '), code('/pay accounts'), words('.')]
    : [words('look it up with '), code(`/pay account ${word(ref)}`), words('.')];
}

function lookUpButtons(wanted: NewAccount) {
  const ref = parseAccountKey(wanted['accountRef'] ?? '');
  return ref.ok
    ? [button({ actionId: accountActions.lookUp, text: 'Look it up', value: ref.value.value })]
    : [];
}
