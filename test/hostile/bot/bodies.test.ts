import { expect, it } from 'vitest';
import { streamAlone } from './endless-bodies.ts';
import { notClosed, sendOddBodies } from './run-bot.ts';
import { openScene } from './scene.ts';

/** `npm run hostile`, in CI too, sends them to both doors at once and watches the memory of a deployed bot. */
it('answers odd and endless bodies as they deserve', async (test) => {
  const scene = await openScene('here');
  test.onTestFinished(() => scene.close());
  // All at once: Bolt takes three seconds to give some of them up.
  const [wrong, endless] = await Promise.all([sendOddBodies(scene, Infinity), streamAlone(scene, 64)]);
  expect(wrong).toEqual([]);
  expect(notClosed(endless)).toEqual([]);
  expect(Math.max(...endless.map(({ sentMb }) => sentMb))).toBeLessThan(64);
});
