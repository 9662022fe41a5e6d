// oxlint-disable no-await-in-loop -- one key after the other
// What a person does who has a keyboard alone.
import type { Locator } from 'playwright-core';
import type { ChargePage } from './charge-page.ts';

const mostKeys = 80;

/** Types it into the open conversation. */
export async function typeByKeys({ page }: ChargePage, command: string): Promise<void> {
  await page.bringToFront();
  await page.locator('#composer').focus();
  await page.keyboard.type(command);
  await page.keyboard.press('Enter');
}

/** Moves the focus to it, from wherever it is; throws when the keys do not lead there. */
export async function keysTo(
  { page }: ChargePage,
  target: Locator,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  await target.waitFor();
  const isThere = (): Promise<boolean> => target.evaluate((element) => element.matches(':focus'));
  for (let keys = 0; keys < mostKeys; keys += 1) {
    if (await isThere()) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${String(target)}.`);
}

/** Presses a button of the newest message that holds the words, coming from the composer below it. */
export async function pressByKeys(person: ChargePage, words: string, name: string): Promise<void> {
  await person.message(words).waitFor();
  await person.page.locator('#composer').focus();
  await keysTo(person, person.message(words).getByRole('button', { name, exact: true }), 'Shift+Tab');
  await person.page.keyboard.press('Enter');
}

/** Presses a button of the modal that is open. */
export async function pressInModalByKeys(person: ChargePage, name: string | RegExp): Promise<void> {
  await keysTo(person, person.modal.getByRole('button', { name, exact: true }));
  await person.page.keyboard.press('Enter');
}

/** Fills in a field of the modal that is open, by what its label begins with. */
export async function fillByKeys(person: ChargePage, label: string, text: string): Promise<void> {
  await keysTo(person, person.modal.getByRole('textbox', { name: new RegExp(`^${label}`) }));
  await person.page.keyboard.press('Control+A');
  await person.page.keyboard.type(text);
}
