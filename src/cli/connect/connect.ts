import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isSettingName, secretsOf } from '../../config/read-config.ts';
import { readPolicy } from '../../config/read-policy.ts';
import { fileErrorCode } from '../../config/readers.ts';
import { servicesFolder } from '../../config/service-sets.ts';
import { counted, parsed, problem } from '../../domain/wording.ts';
import { command, type CommandEnd, type WithoutSettings } from '../command.ts';
import { runDoctor } from '../doctor.ts';
import { exitCodes } from '../exit-codes.ts';
import { openLog, readSettings } from '../read-settings.ts';
import { connectService } from './connect-service.ts';
import { connectSlack } from './connect-slack.ts';
import { connectWebhook } from './connect-webhook.ts';
import {
  agrees,
  type Answers,
  answeredByFile,
  type Conversation,
  questions,
  readAnswers,
  Stopped,
} from './conversation.ts';
import { changeLines, type Changes, type Draft, openDraft } from './draft.ts';
import type { KnownFacts } from './known-checks.ts';
import {
  envWith,
  type PolicyAnswers,
  policyText,
  serviceSettings,
  shownSettings,
  writeOver,
} from './written-files.ts';

/** How long an answers file may wait for a delivery. */
const patienceMs = 600_000;

/** Asks for everything a bot needs, tests each answer, and writes the settings and the policy file. */
export const connectCommand = command({
  summary: 'Set up: asks, tries what you answer, writes .env and payops.yml, and runs the doctor',
  usage: ['npm run connect [-- --answers FILE] [--settings FILE]'],
  more: `--answers runs it without a terminal. The file is YAML, one question: answer a line; a setting’s name works like a question’s. A question that is missing takes its proposal, if it has one; the answer - skips it. --settings is the file to write instead of .env. The questions: ${Object.keys(questions).join(', ')}. Ends as the doctor does, and never with 0 if a file cannot be written.`,
  scope: 'shared',
  options: { answers: { type: 'string' }, settings: { type: 'string', default: '.env' } },
  prepare({ values: { answers: path, settings } }) {
    if (path === undefined) {
      return process.stdin.isTTY && process.stdout.isTTY
        ? parsed({ runWithoutSettings: (invocation) => connect(invocation, settings) })
        : problem('There is no terminal to ask at: give --answers with a file.');
    }
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      return problem(`The answers file cannot be read (${fileErrorCode(error)}).`);
    }
    const answers = readAnswers(text, isSettingName);
    return answers.ok
      ? parsed({ runWithoutSettings: (invocation) => connect(invocation, settings, answers.value) })
      : answers;
  },
});

async function connect(invocation: WithoutSettings, path: string, answers?: Answers): Promise<CommandEnd> {
  const talk = answers
    ? answeredByFile(answers, invocation.out, patienceMs)
    : (await import('./terminal.ts')).atTerminal();
  const files: FileEnd[] = [];
  try {
    const { words, ...end } = await converse(invocation, {
      talk,
      path,
      fromFile: settingsIn(answers),
      files,
    });
    await talk.tell(words, 'The doctor');
    return { ...end, words: '' };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const words = `${error.message}\n${writtenWords(files)}`;
    return { exitCode: answers ? exitCodes.usage : exitCodes.interrupted, words };
  }
}

function writtenWords(ends: readonly FileEnd[]): string {
  if (ends.length === 0) return 'Nothing was written.';
  return ends.map(({ isWritten, words }) => `${isWritten ? '✅' : '❌'} ${words}`).join('\n');
}

function settingsIn(answers: Answers | undefined): Changes {
  return Object.fromEntries([...(answers ?? [])].filter(([name]) => isSettingName(name)));
}

type FileEnd = { isWritten: boolean; words: string };

function notWritten(words: string): FileEnd {
  return { isWritten: false, words };
}

/** The whole conversation. Adds to `files` each that was written or could not be. */
async function converse(
  invocation: WithoutSettings,
  { talk, path, fromFile, files }: { talk: Conversation; path: string; fromFile: Changes; files: FileEnd[] },
): Promise<CommandEnd> {
  const { variables, now } = invocation;
  const draft = openDraft(variables);
  for (const [name, text] of Object.entries(fromFile)) {
    const wrong = draft.problemOf(name, text);
    if (wrong !== undefined) throw new Stopped(`The answer ${name} ${wrong}.`);
  }
  draft.take(fromFile);
  const step = { talk, draft, now, log: () => undefined };
  await talk.tell(
    'Every question can be skipped, and nothing is written before the end.',
    'The payments service',
  );
  const known = await connectService(step);
  await talk.tell('How the service signs its events.', 'Webhook');
  const delivery = await connectWebhook(step);
  const policyPath = draft.config().payopsFile;
  const hasPolicy = readPolicy(policyPath).kind === 'read';
  await talk.tell(
    hasPolicy ? `${policyPath} is there, and stays.` : 'Its tokens, and what goes where.',
    'Slack',
  );
  const policy = await connectSlack(step, hasPolicy);
  files.push(...(await writeSet(talk, draft)));
  files.push(...(await writeSettings(talk, draft, path)));
  if (policy) files.push(...(await writePolicy(talk, policyPath, policy)));
  await talk.tell(writtenWords(files), 'Written');
  const end = await runDoctorOn(invocation, draft, { ...known, ...(delivery && { delivery }) });
  const isFailed = files.some(({ isWritten }) => !isWritten);
  return isFailed && end.exitCode === exitCodes.ok ? { ...end, exitCode: exitCodes.failed } : end;
}

/** Writes the service's settings as a new set. Never overwrites a set: other merchants may use it. */
async function writeSet(talk: Conversation, draft: Draft): Promise<FileEnd[]> {
  const secrets = secretsOf(draft.config());
  const shared = serviceSettings(draft.changes(), secrets);
  if (Object.keys(shared).length === 0 || draft.textOf('PAYMENTS_SERVICE') !== undefined) return [];
  const name = await talk.ask({
    name: 'service_set',
    check(text) {
      if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(text)) return 'must be small letters, digits and dashes';
      return existsSync(setPath(text)) ? 'must be the name of no set that is there' : undefined;
    },
  });
  if (name === undefined) return [];
  const text = `# What every merchant of this service needs alike. No secrets, addresses or ids here.\n${changeLines(shared).join('\n')}\n`;
  return tryToWrite(setPath(name), () => {
    writeOver(setPath(name), text, 0o644);
    draft.moveToSet(name, shared);
    return `openapi/services/${name}.env: ${counted(Object.keys(shared).length, 'setting')}\n${shownSettings(shared)}`;
  });
}

function setPath(name: string): string {
  return fileURLToPath(new URL(`${name}.env`, servicesFolder));
}

async function writeSettings(talk: Conversation, draft: Draft, path: string): Promise<FileEnd[]> {
  const changes = draft.changes();
  if (Object.keys(changes).length === 0) return [];
  await talk.tell(shownSettings(changes), `For ${path}`);
  let before = '';
  try {
    if (existsSync(path)) before = readFileSync(path, 'utf8');
  } catch (error) {
    return [notWritten(`${path} cannot be read (${fileErrorCode(error)})`)];
  }
  const text = envWith(before, changes, 'By npm run connect');
  if (!text.ok) return [notWritten(`${path}: ${text.problem}`)];
  // To a person *yes* is proposed. An answers file must say itself that an existing file may be overwritten.
  const proposal = before === '' || talk.isPerson ? 'yes' : 'no';
  if (!(await agrees(talk, 'write_settings', proposal))) return [];
  return tryToWrite(path, () => {
    const old = writeOver(path, text.value, 0o600);
    const kept = old === undefined ? '' : `; the one before is ${old}`;
    return `${path}: ${counted(Object.keys(changes).length, 'setting')}${kept}`;
  });
}

async function writePolicy(talk: Conversation, path: string, policy: PolicyAnswers): Promise<FileEnd[]> {
  const isThere = existsSync(path);
  const text = policyText(policy);
  await talk.tell(text, `For ${path}`);
  if (!(await agrees(talk, 'write_policy', isThere && !talk.isPerson ? 'no' : 'yes'))) return [];
  return tryToWrite(path, () => {
    const old = writeOver(path, text, 0o644);
    return `${path}${old === undefined ? '' : `; the one before is ${old}`}`;
  });
}

function tryToWrite(path: string, write: () => string): FileEnd[] {
  try {
    return [{ isWritten: true, words: write() }];
  } catch (error) {
    return [notWritten(`${path} cannot be written (${fileErrorCode(error)})`)];
  }
}

/** Runs the doctor on the settings in progress, even if they were not written. */
async function runDoctorOn(
  { variables, now }: WithoutSettings,
  draft: Draft,
  known: KnownFacts,
): Promise<CommandEnd> {
  const settings = readSettings({ ...variables, ...draft.changes() }, 'Not yet enough to run the doctor.');
  if (settings.kind === 'refused') return { exitCode: exitCodes.settings, words: settings.words };
  const { config } = settings;
  return await runDoctor({ config, log: openLog(config, 'error', () => undefined), now }, known);
}
