import type { Locator, Page } from 'playwright-core';

/** Whom the page calls what. */
const people = { ada: 'U0AGENT01', lindiwe: 'U0LEAD0001', omar: 'U0ONCALL01' } as const;
export type PersonName = keyof typeof people;

/** What is typed into the form; `card` into the list, of which the first card offered is chosen. */
export type TypedCharge = { card: string; amount: string; reason?: string };

/** One person's window on the playground, driven by what can be seen and clicked in it. */
export type PersonWindow = {
  page: Page;
  /** The modal on top. */
  modal: Locator;
  /** The page is open as that person, and the bot answers. */
  be: (person: PersonName) => Promise<void>;
  type: (command: string) => Promise<void>;
  /** Waits for the words in the modal and gives all that stands in it. */
  modalSays: (words: string | RegExp) => Promise<string>;
  click: (target: Locator) => Promise<void>;
  /** A button of the modal. */
  press: (button: string) => Promise<void>;
  /** The open charge form, and its submit button: the review, as it reads. */
  review: (charge: TypedCharge) => Promise<string>;
  /** `/pay charge` and all of it, with the click that charges. */
  charge: (charge: TypedCharge) => Promise<void>;
  enterCode: (code: string) => Promise<void>;
  close: () => Promise<void>;
  channel: (name: string) => Promise<void>;
  /** A tab of the page. */
  tab: (name: string) => Promise<void>;
  /** The newest message of the open conversation that holds the words. */
  message: (words: string) => Locator;
};

/** `url` is the playground's. */
export function openWindow(url: string, page: Page): PersonWindow {
  const modal = page.locator('dialog[data-view]').last();

  function field(blockId: string): Locator {
    return modal.locator(`[id*="${blockId}"]:is(input, textarea)`);
  }
  /** Chromium draws a tab in the background about once a second, and a click waits for that. */
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
    // The customer's phone beside it says some of the same words, and sooner.
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
    /** One modal may lie on another: the one on top goes. */
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

/** What everybody sees in that person's conversation and holds the words. */
export function posted({ page }: PersonWindow, words: string): Locator {
  return page.locator('.channel article:not(.ephemeral)', { hasText: words });
}

/** Presses a button of the newest message that holds the words. */
export async function pressIn(person: PersonWindow, words: string, button: string): Promise<void> {
  await person.click(person.message(words).getByRole('button', { name: button, exact: true }));
}
