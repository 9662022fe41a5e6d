import { bold, context, headline, plainText, richText, words } from '../../slack/kit/blocks.ts';
import { defineCommand, type Command } from '../../slack/command.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { nothingAfter } from '../../slack/nothing-after.ts';
import type { Finding } from './examine.ts';

/** `/pay doctor`: whether every part works, and if not, the fix. `doctor` looks at every part, each within its time; it never rejects. */
export function doctorCommand(doctor: () => Promise<readonly Finding[]>): Command {
  return defineCommand<undefined>({
    verb: 'doctor',
    usage: '',
    summary: 'Check every part',
    examples: ['doctor'],
    permission: 'doctor',
    effect: 'none',
    parse: nothingAfter('Nothing follows “doctor”: it checks every part.'),
    run: async (_input, { whileWaiting }) => doctorMessage(await whileWaiting(doctor(), checkingMessage())),
  });
}

function checkingMessage(): SlackMessage {
  const { text, block } = headline('⏳ Checking every part', []);
  return { text, blocks: [block] };
}

/** The worst first, in one list for every reader. */
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

/** "2 problems, 1 warning" */
export function countWords(findings: readonly Finding[]): string {
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  return [
    ...(problems > 0 ? [problems === 1 ? '1 problem' : `${problems} problems`] : []),
    ...(warnings > 0 ? [warnings === 1 ? '1 warning' : `${warnings} warnings`] : []),
  ].join(', ');
}

export function partOf({ part, account }: Finding): string {
  return account === undefined ? part : `${part} · ${account}`;
}

/** More than a person reads at once. */
const mostShown = 20;

function doctorMessage(findings: readonly Finding[]): SlackMessage {
  const isBroken = findings.some(({ state }) => state === 'problem');
  const counts = countWords(findings);
  const { text, block } = headline(
    counts === '' ? '✅ Every part works' : `${stateSigns[isBroken ? 'problem' : 'warning']} ${counts}`,
    [],
  );
  const told = sorted(findings).filter(({ state }) => state === 'problem' || state === 'warning');
  const hidden = told.length - mostShown;
  const rest = sorted(findings).filter(({ state }) => state === 'ok' || state === 'skipped');
  const quiet = rest.map((finding) => `${stateSigns[finding.state]} ${partOf(finding)}`).join('  ');
  return {
    text,
    blocks: [
      block,
      ...told
        .slice(0, mostShown)
        .map((finding) =>
          richText(
            [bold(`${stateSigns[finding.state]} ${partOf(finding)}`), words(`: ${finding.says}`)],
            finding.fix === undefined ? [] : [words(`Fix: ${finding.fix}`)],
          ),
        ),
      ...(hidden > 0 ? [context(plainText(`And ${hidden} more: npm run doctor lists all.`))] : []),
      context(plainText(quiet)),
    ],
  };
}
