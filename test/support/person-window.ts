import type { Locator, Page } from 'playwright-core';

/** The page's people. */
const people = { ada: 'U0AGENT01', lindiwe: 'U0LEAD0001', omar: 'U0ONCALL01' } as const;
export type PersonName = keyof typeof people;

/** Input for the charge form; `card` is typed into the list, and the first card offered is chosen. */
export type TypedCharge = { card: string; amount: string; reason?: string };

/** One person's window on the playground, driven only by what is visible. */
export type PersonWindow = {
  page: Page;
  /** The modal on top. */
  modal: Locator;
  /** Opens the page as that person, once the bot answers. */
  be: (person: PersonName) => Promise<void>;
  type: (command: string) => Promise<void>;
  /** Waits for the words in the modal and returns its whole text. */
  modalSays: (words: string | RegExp) => Promise<string>;
  click: (target: Locator) => Promise<void>;
  /** A button of the modal. */
  press: (button: string) => Promise<void>;
  /** Fills in and submits the open charge form; returns the review's text. */
  review: (charge: TypedCharge) => Promise<string>;
  /** `/pay charge` to the end, with the click that charges. */
  charge: (charge: TypedCharge) => Promise<void>;
  enterCode: (code: string) => Promise<void>;
  close: () => Promise<void>;
  channel: (name: string) => Promise<void>;
  /** A tab of the page. */
  tab: (name: string) => Promise<void>;
  /** The newest message in the open conversation that contains the words. */
  message: (words: string) => Locator;
};

/** `url`: the playground's. */
export function openWindow(url: string, page: Page): PersonWindow {
  const modal = page.locator('dialog[data-view]').last();

  function field(blockId: string): Locator {
    return modal.locator(`[id*="${blockId}"]:is(input, textarea)`);
  }
  /** Chromium draws a background tab only about once a second, and a click waits for that. */
  async function click(target: Locator): Promise<void> {
    await page.bringToFront();
    await target.click();
  }
  async function type(command: string): Promise<void> {
    await page.bringToFront();
    await page.locator('#composer').fill(command);
    await page.keyboard.press('Enter');
  }
  async function modalSays(words: string | RegExp): Promise<string> {
    // Not the customer's phone beside it, which shows some of the same words sooner.
    const view = modal.locator('form');
    await view.getByText(words).first().waitFor();
    return view.innerText();
  }
  async function press(button: string): Promise<void> {
    await click(modal.getByRole('button', { name: button, exact: true }));
  }
  async function review({ card, amount, reason = '' }: TypedCharge): Promise<string> {
    await modalSays('You review it before anything is charged.');
    const box = modal.locator('input[role=combobox]');
    await click(box);
    await box.fill(card);
    await click(modal.getByRole('option', { name: card }).first());
    await field('charge_amount').fill(amount);
    await field('charge_reason').fill(reason);
    await press('Review');
    return modalSays('Nothing sent yet.');
  }

  return {
    page,
    modal,
    async be(person) {
      await page.goto(`${url}/?user=${people[person]}`);
      await page.getByRole('region', { name: 'The bot' }).getByText('ready', { exact: true }).waitFor();
    },
    type,
    modalSays,
    click,
    press,
    review,
    async charge(charge) {
      await type('/pay charge');
      await review(charge);
      await click(modal.getByRole('button', { name: /^(Charge |Ask for approval$)/ }));
    },
    async enterCode(code) {
      await field('otp_code').fill(code);
      await press('Send code');
    },
    /** Closes the modal on top. */
    async close() {
      const id = await modal.getAttribute('data-view');
      await click(modal.locator('footer button').first());
      await page.locator(`dialog[data-view="${id}"]`).waitFor({ state: 'detached' });
    },
    async channel(name) {
      const entries = page.getByRole('navigation', { name: 'Workspace' });
      await click(entries.getByRole('button', { name: new RegExp(`^${name}( |$)`) }));
    },
    tab: (name) => click(page.getByRole('tab', { name })),
    message: (words) => page.locator('.channel article', { hasText: words }).last(),
  };
}

/** A message with the words that everybody sees in that person's conversation. */
export function posted({ page }: PersonWindow, words: string): Locator {
  return page.locator('.channel article:not(.ephemeral)', { hasText: words });
}

/** Presses a button of the newest message with the words. */
export async function pressIn(person: PersonWindow, words: string, button: string): Promise<void> {
  await person.click(person.message(words).getByRole('button', { name: button, exact: true }));
}
