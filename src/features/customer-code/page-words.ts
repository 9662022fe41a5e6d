/** A page without a form: a headline and a sentence. */
export type PageNotice =
  | 'checking'
  | 'accepted'
  | 'doubt'
  | 'paid'
  | 'paidAgain'
  | 'tooLate'
  | 'tooMany'
  | 'notPaid'
  | 'givenBack'
  | 'stopped'
  | 'gone'
  | 'tooFast'
  | 'away'
  | 'notTaken';

type Sentence =
  | 'title'
  | 'label'
  | 'send'
  | 'resend'
  | 'notMine'
  | 'safety'
  | 'mayBePaid'
  | 'wrong'
  | 'notACode'
  | 'outdated'
  | 'resent'
  | 'notResent'
  | 'unanswered';

/** All words of the page in one language. `lang`: its primary tag, like `en`. */
export type PageWords = Record<Sentence, string> &
  Record<PageNotice, readonly [head: string, text: string]> & {
    lang: string;
    asks: (merchant: string) => string;
    until: (time: string, minutes: number) => string;
    tries: (left: number) => string;
  };

const english: PageWords = {
  lang: 'en',
  title: 'Enter your bank’s code',
  asks: (merchant: string) => `${merchant} asks you to approve`,
  until: (time: string, minutes: number) =>
    `Until ${time} (${minutes === 1 ? '1 minute' : `${minutes} minutes`})`,
  tries: (left: number) => (left === 1 ? '1 try left' : `${left} tries left`),
  label: 'Code from your bank',
  send: 'Approve',
  resend: 'Resend the code',
  notMine: 'I did not ask for this',
  safety: 'Enter this code only here. Tell it to nobody.',
  mayBePaid: 'You may have paid this already. Ask the merchant before you approve.',
  wrong: 'That code was wrong. Check it and try once more.',
  notACode: 'A code has 4 to 10 letters or digits.',
  outdated: 'An earlier code failed, and this one wasn’t sent. Enter it again.',
  resent: 'We asked your bank for another code. It gives no more time and no more tries.',
  notResent: 'Your bank sent no other code. The earlier one still counts.',
  unanswered: 'The last code got no answer. It may have cost a try.',
  checking: ['Checking your code', 'This page refreshes by itself. Don’t enter the code again.'],
  accepted: ['Code accepted', 'We are confirming the payment. This page refreshes by itself.'],
  doubt: ['We are checking', 'Don’t enter the code again. This page refreshes by itself.'],
  paid: ['Paid', 'The payment is confirmed. You can close this page.'],
  paidAgain: ['Paid', 'This payment is confirmed. If you paid this twice, ask the merchant.'],
  tooLate: ['Too late for a code', 'Ask the merchant to start over. No code is needed here.'],
  tooMany: ['Wrong code three times', 'No money moved. Ask the merchant how to go on.'],
  notPaid: ['Not paid', 'No money moved. Ask the merchant how to go on.'],
  givenBack: ['Given back', 'Your money was sent back. Ask the merchant how to go on.'],
  stopped: ['Thank you for telling us', 'This link has ended and the merchant knows.'],
  gone: ['This link does not work', 'It may have ended or been used. Ask who sent it.'],
  tooFast: ['Too many requests', 'Wait a minute. This page refreshes by itself.'],
  away: ['One moment', 'This page can’t be shown just now. It refreshes by itself.'],
  notTaken: ['Try again in a minute', 'Nothing was sent, and no try was used.'],
};

/** To add a language, write its `PageWords` and list it here. The first is the default. */
const available: readonly [PageWords, ...PageWords[]] = [english];

/** The first available language that the browser accepts, by weight. */
export function wordsFor(accepted: string, all: readonly [PageWords, ...PageWords[]] = available): PageWords {
  const languages = accepted.split(',').map((part) => {
    // No regular expression: strangers send long headers, and backtracking would hold up the bot.
    const [tag = '', ...more] = part.split(';').map((word) => word.trim());
    const weight = more.find((word) => word.startsWith('q='))?.slice(2) ?? '1';
    return { lang: tag.split('-', 1)[0]?.toLowerCase(), weight: Number(weight) };
  });
  const wanted = languages.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  const found = wanted.flatMap(({ lang }) => all.find((words) => words.lang === lang) ?? []);
  return found[0] ?? all[0];
}
