import { alertCardPrefix } from '../../src/operations/alert/alert-cards.ts';
import type { World } from './world.ts';

/** The alerts that a person is said to have in hand. */
export async function readList({ store }: World, userId: string): Promise<string[]> {
  const { entries } = await store.list(`alerts-of:${userId}`, { max: 1_000 });
  return entries.map(({ key }) => key.slice(alertCardPrefix.length));
}
