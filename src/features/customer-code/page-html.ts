import { hash, randomBytes } from 'node:crypto';
import { formatMoney, type Money } from '../../domain/money.ts';
import { outsideText } from '../../domain/outside-text.ts';
import type { PageNotice, PageWords } from './page-words.ts';

/** What the form shows: no customer's name or e-mail, no order reference or transaction id. */
type Form = {
  kind: 'form';
  merchant: string;
  money: Money;
  lastFour: string | undefined;
  /** When the bank's code expires, UTC ms. */
  untilMs: number;
  triesLeft: number;
  /** Whether the customer can request another code. */
  mayResend: boolean;
  /** Result of the last request for another code. */
  resend: 'resent' | 'notResent' | undefined;
  /** Another payment, or a person, ended the alert that the charge should resolve. */
  mayBePaid: boolean;
  problem: 'wrong' | 'notACode' | 'outdated' | 'unanswered' | undefined;
  nowMs: number;
  timeZone: string;
  /** The secret of the address that will show the result; the page's forms send it. */
  id: string;
};

export type Screen = Form | { kind: 'notice'; notice: PageNotice };

/** Notices that the browser reloads, and after how many seconds. */
const refreshSeconds: Partial<Record<PageNotice, number>> = {
  checking: 4,
  accepted: 4,
  doubt: 4,
  away: 4,
  tooFast: 60,
};

/** A `refresh` header, not a `<meta>` tag: screen readers announce each reload that a page asks for. */
export function refreshOf(screen: Screen): Record<string, string> {
  const seconds = screen.kind === 'notice' ? refreshSeconds[screen.notice] : undefined;
  return seconds === undefined ? {} : { refresh: String(seconds) };
}

/** A secret that makes an address of the page. */
export function newSecret(): string {
  return randomBytes(16).toString('base64url');
}

const longestMerchant = 60;

const style = `*{box-sizing:border-box}body{margin:0;font:17px/1.5 system-ui,sans-serif;background:#f4f5f7;color:#1a1d21}main{max-width:25rem;margin:0 auto;padding:1.25rem;min-height:100vh;background:#fff}@media(min-width:30rem){main{margin:3rem auto;min-height:0;padding:2rem;border-radius:14px;box-shadow:0 1px 4px #0003}}h1{font-size:1.05rem;font-weight:500;margin:0;overflow-wrap:anywhere}.m{font-size:min(2rem,8.6vw);font-weight:700;line-height:1.25;margin:.2rem 0;overflow-wrap:anywhere}.s h1{font-size:1.4rem;font-weight:700}p{margin:.35rem 0}.q{color:#565d66;font-size:.95rem}form{margin:1.25rem 0 0}label{display:block;font-weight:600;margin-bottom:.35rem}input,button{width:100%;min-height:48px;font:inherit;border-radius:9px;border:1px solid #6b727b;padding:.5rem .8rem;background:#fff;color:inherit}input{font-size:1.5rem;letter-spacing:.15em}button{margin-top:.75rem;cursor:pointer}.p{background:#0b57d0;border-color:#0b57d0;color:#fff;font-weight:600}.t{border-color:transparent;background:none;color:#0b57d0;text-decoration:underline}.e{color:#b3261e;font-weight:600}:focus-visible{outline:3px solid #0b57d0;outline-offset:2px}.f{margin-top:1.25rem;border-top:1px solid #d5d8dc;padding-top:.9rem}@media(prefers-color-scheme:dark){body{background:#0f1113;color:#e8eaed}main{background:#1b1e22}.q{color:#b4bac2}input,button{background:#111316;border-color:#8a919a}.p{background:#a8c7fa;border-color:#a8c7fa;color:#062e6f}.t{background:none;border-color:transparent;color:#a8c7fa}.e{color:#ffb4ab}:focus-visible{outline-color:#a8c7fa}.f{border-color:#3a3f45}}`;

const styleHash = hash('sha256', style, 'base64');

/** The page loads nothing, runs no script and can't be framed. No other site and no cache learns its address. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow, noarchive',
};

/** Returns the whole page as HTML. Outside text is escaped, and its direction marks can't affect other text. */
export function renderPage(screen: Screen, words: PageWords): string {
  const [title, body] =
    screen.kind === 'form'
      ? [words.title, formOf(screen, words)]
      : [words[screen.notice][0], noticeOf(words[screen.notice])];
  return `<!doctype html><html lang="${words.lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head><body>${body}</body></html>`;
}

function noticeOf([head, text]: readonly [string, string]): string {
  return `<main class="s"><h1>${head}</h1><p role="status">${text}</p></main>`;
}

/** Field `try`: the tries left when the page was made, so that a double tap counts once. */
function formOf(form: Form, words: PageWords): string {
  const { merchant, money, lastFour, untilMs, nowMs, timeZone, triesLeft, mayResend, resend, problem, id } =
    form;
  const paidLine = form.mayBePaid ? `<p class="e" role="status">${words.mayBePaid}</p>` : '';
  const minutes = Math.max(1, Math.floor((untilMs - nowMs) / 60_000));
  const time = new Intl.DateTimeFormat(words.lang, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
    timeZoneName: 'short',
  });
  const card = lastFour === undefined ? '' : `<p>•••• ${escaped(outsideText(lastFour, 4))}</p>`;
  const problemLine = problem === undefined ? '' : `<p class="e" id="e" role="alert">${words[problem]}</p>`;
  const resendButton = mayResend ? `<button name="do" value="resend">${words.resend}</button>` : '';
  const resendLine = resend === undefined ? '' : `<p class="q" role="status">${words[resend]}</p>`;
  const invalid = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="e"';
  return `<main><h1>${words.asks(`<bdi>${escaped(outsideText(merchant, longestMerchant))}</bdi>`)}</h1><p class="m">${escaped(formatMoney(money))}</p>${card}<p class="q">${words.until(time.format(untilMs), minutes)} · ${words.tries(triesLeft)}</p>${paidLine}${resendLine}<form method="post"><input type="hidden" name="id" value="${id}"><input type="hidden" name="try" value="${triesLeft}"><label for="c">${words.label}</label><input id="c" name="code" type="text" inputmode="text" autocomplete="one-time-code" autocapitalize="off" spellcheck="false" maxlength="20" required${invalid} autofocus>${problemLine}<button class="p" name="do" value="send">${words.send}</button></form><form method="post"><input type="hidden" name="id" value="${id}">${resendButton}<button class="t" name="do" value="not_mine">${words.notMine}</button></form><p class="f q">${words.safety}</p></main>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
