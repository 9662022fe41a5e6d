import { noteMessage } from '../../slack/kit/note.ts';
import type { Feature } from '../../account.ts';
import { bold, context, plainText, richText, words } from '../../slack/kit/blocks.ts';
import type { ContextBlock } from '@slack/types';
import { counted } from '../../domain/wording.ts';
import { defineCommand } from '../../slack/command.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import type { Finding } from './checks.ts';

/**
 * `/pay doctor`: checks every part and shows the fix. `doctor` runs all checks, each with a deadline; never rejects.
 */
export function createDoctor(doctor: () => Promise<readonly Finding[]>): Feature {
  const verb = defineCommand<undefined>({
    verb: 'doctor',
    usage: '',
    summary: 'Health check',
    examples: ['doctor'],
    permission: 'doctor',
    effect: 'none',
    parse: nothingAfter('Nothing follows “doctor”: it checks every part.'),
    run: async (_input, { whileWaiting }) =>
      doctorMessage(await whileWaiting(doctor(), noteMessage({ state: '⏳ Checking every part' }))),
  });
  return { verbs: [verb] };
}

/** Worst first. */
export function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
}

const order: readonly Finding['state'][] = ['problem', 'warning', 'skipped', 'ok'];

export const stateSigns: Readonly<Record<Finding['state'], string>> = {
  problem: '❌',
  warning: '⚠️',
  skipped: '➖',
  ok: '✅',
};

/** "2 problems, 1 warning". Mentions unchecked parts only if there are no problems and warnings. */
export function countWords(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  const [problems, warnings, skipped] = [count('problem'), count('warning'), count('skipped')];
  const found = [
    ...(problems > 0 ? [counted(problems, 'problem')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
  if (found !== '') return found;
  return skipped === 0 ? 'Every part works' : `Nothing broken, ${counted(skipped, 'part')} not checked`;
}

export function partOf({ part, account }: Finding): string {
  return account === undefined ? part : `${part} · ${account}`;
}

/** A message with more findings would be too long to read. */
const mostShown = 20;

function doctorMessage(findings: readonly Finding[]): SlackMessage {
  const [worst] = sorted(findings);
  const sign = worst === undefined || worst.state === 'skipped' ? stateSigns.ok : stateSigns[worst.state];
  const listed = sorted(findings).filter(({ state }) => state === 'problem' || state === 'warning');
  const hidden = listed.length - mostShown;
  return noteMessage({
    state: `${sign} ${countWords(findings)}`,
    body: [
      ...listed
        .slice(0, mostShown)
        .map((finding) =>
          richText(
            [bold(`${stateSigns[finding.state]} ${partOf(finding)}`), words(`: ${finding.says}`)],
            finding.fix === undefined ? [] : [words(`Fix: ${finding.fix}`)],
          ),
        ),
      ...(hidden > 0 ? [context(plainText(`And ${hidden} more: npm run doctor lists all.`))] : []),
      ...quietLine('Not checked', findings, 'skipped'),
      ...quietLine('Working', findings, 'ok'),
    ],
  });
}

function quietLine(title: string, findings: readonly Finding[], state: Finding['state']): ContextBlock[] {
  const found = findings.filter((one) => one.state === state);
  if (found.length === 0) return [];
  const fixes = new Set(found.flatMap(({ fix }) => fix ?? []));
  return [context(plainText([`${title}: ${found.map(partOf).join(', ')}.`, ...fixes].join(' ')))];
}
