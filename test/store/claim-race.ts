import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Two processes create the same keys at the same time. Returns how many keys each of them created. */
export async function claimRace(where: string, count: number): Promise<number[]> {
  const program = fileURLToPath(new URL('claim-all.ts', import.meta.url));
  const children = [0, 1].map((me) =>
    spawn(process.execPath, [program, where, String(count), String(me)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const claims = children.map(async (child) => Number(String((await once(child.stdout, 'data'))[0])));
  for (const child of children) child.stdin.write('go\n');
  return Promise.all(claims);
}
