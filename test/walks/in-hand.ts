import type { World } from './world.ts';

/** The alerts that a person is said to have in hand. */
export async function readList({ store }: World, userId: string): Promise<string[]> {
  const entry = await store.read(`alerts-of:${userId}`);
  return entry ? (JSON.parse(entry.value) as string[]) : [];
}
