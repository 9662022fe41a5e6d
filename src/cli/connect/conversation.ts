import { parse } from 'yaml';
import { isJsonObject } from '../../domain/json.ts';
import { nearestWord, parsed, problem, type Parsed } from '../../domain/wording.ts';

/** Every question, in order. The key is its name in an answers file. */
export const questions = {
  environment: 'Which of the payments service’s environments?',
  address: 'At which address?',
  account: 'Your merchant account (accountId, a UUID)?',
  parent_account: 'The parent account that gets tokens, if another?',
  client_id: 'Your client id?',
  client_secret: 'Your client secret?',
  token_request:
    'The token request as the service’s documentation shows it: paste its curl, or the JSON body',
  token_body: 'Is this the body to send?',
  token_again: 'Try the token request again, with other answers?',
  token_settings: 'Take these settings?',
  paid_reference: 'The reference of a payment that you know is paid?',
  paid_amount: 'How much was its order for, without a fee on top?',
  payment_settings: 'Take these settings?',
  cards_of: 'The e-mail of a customer with saved cards, best with more than one page of them?',
  card_delete_body: 'The JSON body that deletes a card? (Nothing is deleted now.)',
  cards_settings: 'Take these settings?',
  webhook_secret: 'The secret that the service signs its events with?',
  delivery: 'A captured delivery: the file of the raw request, or wait, to catch the next one here?',
  webhook_settings: 'Take these settings?',
  slack_mode: 'How does Slack reach the bot?',
  slack_bot_token: 'The app’s Bot User OAuth Token (xoxb-…)?',
  slack_app_token: 'An app-level token with connections:write (xapp-…)?',
  slack_signing_secret: 'The app’s signing secret?',
  alerts_channel: 'Which channel gets the alerts? Its name or id',
  desk_channel: 'Which one sees the state of each charge?',
  ops_channel: 'Which one hears what the people who run the bot must know?',
  members: 'Who may use the bot? Member ids, separated by commas (profile → ⋮ → Copy member ID)',
  service_set:
    'A name to keep the service’s own settings under, for its other merchants (openapi/services/NAME.env)?',
  write_settings: 'Write the settings?',
  write_policy: 'Write the policy file?',
} as const;

export type QuestionName = keyof typeof questions;

export type Question = {
  name: QuestionName;
  /** Asked instead of the question’s usual words. */
  asks?: string;
  /** The answer if nothing is typed. For a secret the value is not shown, only that there is one. */
  proposal?: string | undefined;
  form?: 'secret' | 'lines' | readonly [string, ...string[]];
  /** What is wrong with an answer, without repeating it; undefined: nothing. */
  check?: (answer: string) => string | undefined;
};

/** Who answers the questions: a person at a terminal, or a file of answers. */
export type Conversation = {
  /** A person can be asked again after a wrong answer; a file can't. */
  isPerson: boolean;
  /** The answer, or the proposal if none is given; undefined: skipped. Throws Stopped. */
  ask: (question: Question) => Promise<string | undefined>;
  tell: (words: string, title?: string) => Promise<void> | void;
  /** Waits for the work's result; undefined if the person goes on without it, or the time is over. */
  waitFor: <T>(words: string, work: (signal: AbortSignal) => Promise<T>) => Promise<T | undefined>;
};

/** Thrown to end the conversation early. The message is for the person. */
export class Stopped extends Error {}

export const skipWord = '-';

export type Answers = ReadonlyMap<string, string>;

/** Reads a YAML file that maps names of questions or settings to answers. */
export function readAnswers(text: string, isSetting: (name: string) => boolean): Parsed<Answers> {
  let read: unknown;
  try {
    // The `failsafe` schema keeps numbers as text: a secret may begin with zeros.
    read = parse(text, { schema: 'failsafe' }) || {};
  } catch {
    return problem('The answers file is not YAML: write question: answer, one a line.');
  }
  if (!isJsonObject(read)) return problem('The answers file is no list of question: answer.');
  const answers = new Map<string, string>();
  for (const [name, value] of Object.entries(read)) {
    if (!Object.hasOwn(questions, name) && !isSetting(name)) {
      const nearest = nearestWord(name, Object.keys(questions));
      const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
      return problem(`The answers file answers ${name}, which is no question and no setting.${hint}`);
    }
    if (typeof value !== 'string') return problem(`The answers file’s ${name} must be one text.`);
    answers.set(name, value.trim());
  }
  return parsed(answers);
}

/** Answers from a file. A question without an answer takes its proposal, or is skipped. */
export function answeredByFile(
  answers: Answers,
  write: (text: string) => Promise<void>,
  patienceMs: number,
): Conversation {
  return {
    isPerson: false,
    ask({ name, proposal, form, check }) {
      const given = answers.get(name) ?? '';
      if (given === skipWord) return Promise.resolve(undefined);
      const answer = given === '' ? proposal : given;
      const isNoOption = typeof form === 'object' && answer !== undefined && !form.includes(answer);
      if (isNoOption) throw new Stopped(`The answer ${name} must be ${form.join(' or ')}.`);
      const wrong = given === '' ? undefined : check?.(given);
      if (wrong !== undefined) throw new Stopped(`The answer ${name} ${wrong}.`);
      return Promise.resolve(answer);
    },
    tell: (words, title) => write(`${title === undefined ? '' : `${title}\n`}${words}\n\n`),
    async waitFor(words, work) {
      await write(`${words}\n\n`);
      return await work(AbortSignal.timeout(patienceMs)).catch(() => undefined);
    },
  };
}

/** Asks *yes* or *no*. Without an answer takes the proposal. */
export async function agrees(
  conversation: Conversation,
  name: QuestionName,
  proposal = 'yes',
): Promise<boolean> {
  return (await conversation.ask({ name, form: ['yes', 'no'], proposal })) === 'yes';
}
