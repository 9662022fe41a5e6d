// oxlint-disable no-await-in-loop -- one hand clicks
import type { Locator, Page } from 'playwright-core';
import type { Playground } from '../../src/playground/playground.ts';
import type { NextCharge } from '../../src/simulators/protocol.ts';

/** Whom the page calls what. */
export const people = { ada: 'U0AGENT01', lindiwe: 'U0LEAD0001', omar: 'U0ONCALL01' } as const;
export type PersonName = keyof typeof people;

/** What is typed into the form; `card` into the list, of which the first card offered is chosen. */
export type TypedCharge = {
  card?: string;
  token?: string;
  amount: string;
  email?: string;
  customerId?: string;
  reason?: string;
};

/** One person's window on the playground, driven by what can be seen and clicked in it. */
export type ChargePage = {
  page: Page;
  /** The modal on top. */
  modal: Locator;
  /** The page is open as that person, and the bot answers. */
  be: (person: PersonName) => Promise<void>;
  /** Closes whatever modal is open. */
  tidy: () => Promise<void>;
  type: (command: string) => Promise<void>;
  /** Waits for the words in the modal and gives all that stands in it. */
  modalSays: (words: string | RegExp) => Promise<string>;
  click: (target: Locator) => Promise<void>;
  /** A button of the modal. */
  press: (button: string) => Promise<void>;
  /** Fills the open form in, as a person would. */
  fillIn: (charge: Partial<TypedCharge>) => Promise<void>;
  /** `/pay charge`, the form, and its submit button: the read-back, as it reads. */
  readBack: (charge: TypedCharge) => Promise<string>;
  /** All of it, with the click that charges. */
  charge: (charge: TypedCharge) => Promise<void>;
  enterCode: (code: string) => Promise<void>;
  close: () => Promise<void>;
  channel: (name: string) => Promise<void>;
  /** A tab of the simulated payments service. */
  tab: (name: string) => Promise<void>;
  /** The newest message of the open conversation that holds the words. */
  message: (words: string) => Locator;
  orderNext: (next: NextCharge) => Promise<void>;
  setWeather: (name: string) => Promise<void>;
};

const fields = {
  token: 'charge_token',
  amount: 'charge_amount',
  email: 'charge_email',
  customerId: 'charge_customer_id',
  reason: 'charge_reason',
} as const;

export function openChargePage(playground: Playground, page: Page): ChargePage {
  const modal = page.locator('#view-dialog');

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
    await modal.getByText(words).first().waitFor();
    return modal.innerText();
  }
  async function press(button: string): Promise<void> {
    await click(modal.getByRole('button', { name: button, exact: true }));
  }
  /** One modal may lie on another: the one on top goes. */
  async function close(): Promise<void> {
    const id = await modal.getAttribute('data-view');
    await click(modal.locator('.view-foot button').first());
    await page.locator(`#view-dialog[data-view="${id}"]`).waitFor({ state: 'detached' });
  }
  async function chooseCard(typed: string): Promise<void> {
    const box = modal.locator('input[role=combobox]');
    await click(box);
    await box.fill(typed);
    await click(modal.getByRole('option', { name: typed }).first());
  }
  async function fillIn({ card, ...typed }: Partial<TypedCharge>): Promise<void> {
    if (card !== undefined) await chooseCard(card);
    const names = Object.keys(typed) as (keyof typeof typed)[];
    for (const name of names) {
      await field(fields[name]).fill(typed[name] ?? '');
    }
  }
  async function readBack(charge: TypedCharge): Promise<string> {
    await type('/pay charge');
    await modalSays('You review it before anything is charged.');
    await fillIn(charge);
    await press('Review');
    return modalSays('Nothing sent yet.');
  }
  async function tab(name: string): Promise<void> {
    await click(page.getByRole('tab', { name }));
  }

  return {
    page,
    modal,
    async be(person) {
      await page.goto(`${playground.url}/?user=${people[person]}`);
      await page.getByRole('region', { name: 'The bot' }).getByText('ready', { exact: true }).waitFor();
    },
    async tidy() {
      while (await modal.isVisible()) await close();
    },
    type,
    modalSays,
    click,
    press,
    fillIn,
    readBack,
    async charge(charge) {
      await readBack(charge);
      await click(modal.getByRole('button', { name: /^(Charge |Ask for approval$)/ }));
    },
    async enterCode(code) {
      await field('otp_code').fill(code);
      await press('Send code to the bank');
    },
    close,
    async channel(name) {
      const entries = page.getByRole('navigation', { name: 'Workspace' });
      await click(entries.getByRole('button', { name: new RegExp(`^${name}( |$)`) }));
    },
    tab,
    message: (words) => page.locator('.channel article', { hasText: words }).last(),
    async orderNext(next) {
      await tab('Saved cards');
      await page.locator('select[name=nextCharge]').selectOption(next);
    },
    async setWeather(name) {
      await tab('Weather');
      await click(page.getByRole('radio', { name }));
    },
  };
}
