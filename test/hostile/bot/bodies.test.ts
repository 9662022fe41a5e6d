import { expect, it } from 'vitest';
import { oddBodies } from './odd-bodies.ts';
import { mostGrowthMb, runBodies } from './run-bot.ts';
import { openScene } from './scene.ts';

it('answers odd and endless bodies as they deserve, without growing', async (test) => {
  const scene = await openScene();
  test.onTestFinished(() => scene.close());
  const { wrong, odd, grewMb, endless } = await runBodies(scene, 64);
  expect(wrong).toEqual([]);
  expect(odd).toBeGreaterThanOrEqual(oddBodies.length);
  expect(Math.max(...endless.map(({ sentMb }) => sentMb))).toBeLessThan(64);
  expect(grewMb).toBeLessThan(mostGrowthMb);
});
