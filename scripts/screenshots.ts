import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Locator } from 'playwright-core';
import type { PageState } from '../src/simulators/protocol.ts';
import { seedCards } from '../src/simulators/payments/seed.ts';
import { startPlayground, type Playground } from '../src/playground/playground.ts';
import { channelIds } from '../src/simulators/slack/directory.ts';
import { openBrowser } from '../test/support/browser.ts';
import { openWindow, type PersonWindow } from '../test/support/person-window.ts';

/** Makes the pictures of the documentation from the running playground: `node scripts/screenshots.ts`. */

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));

const size = { width: 1280, height: 800 };
/** Tall enough for the longest message. */
const tall = { ...size, height: 1_400 };
/** Ends at an item's end in the Home. */
const homeRoom = { ...size, height: 620 };

/** Takes a picture of the page or a part of it, without the mouse or the toolbar of a pressed message. */
async function shoot(
  { page }: PersonWindow,
  name: string,
  { part, room = size }: { part?: Locator; room?: typeof size } = {},
): Promise<void> {
  await page.setViewportSize(room);
  await page.mouse.move(0, 0);
  if (room !== size) await page.evaluate('document.activeElement?.blur()');
  await (part ?? page).screenshot({ path: `${folder}${name}.png` });
  await page.setViewportSize(size);
  console.log(`docs/images/${name}.png`);
}

/** One message of the open channel. */
async function shootMessage(person: PersonWindow, words: string, name: string): Promise<void> {
  await shoot(person, name, { part: person.message(words), room: tall });
}

async function shootLookUp(ada: PersonWindow): Promise<void> {
  await ada.type('/pay ORDER-1001');
  await ada.page.locator('article.ephemeral', { hasText: 'Paid (confirmed)' }).nth(1).waitFor();
  await shoot(ada, 'look-up');
}

/** A command in a channel that the bot is not in. */
async function shootInvite(ada: PersonWindow): Promise<void> {
  const { page } = ada;
  await ada.channel('private-room');
  await page.getByText('The bot is not in this channel').waitFor();
  await ada.type('/invite @pay');
  await ada.message('is in #private-room now').waitFor();
  await shoot(ada, 'invite', { part: page.getByRole('main'), room: { ...size, height: 330 } });
  await ada.channel('pay-desk');
}

async function shootAlert(ada: PersonWindow): Promise<void> {
  const { page } = ada;
  await page.getByRole('tab', { name: 'Saved cards' }).click();
  await page.getByRole('button', { name: 'Charge, declined' }).click();
  await page.locator('article', { hasText: 'Declined by the bank' }).waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  for (const how of ['The same delivery again', 'With a bad signature']) {
    await page
      .getByRole('button', { name: /^Send again: payment_failed/ })
      .first()
      .click();
    await page.getByRole('button', { name: how }).click();
  }
  await page.getByText('refused', { exact: true }).waitFor();
  await shoot(ada, 'alert');
}

/** The agent's view of the link, and the page on the customer's phone. */
async function shootCustomer(ada: PersonWindow): Promise<void> {
  await ada.charge({ card: '1127', amount: '9300' });
  await ada.press('Let the customer type it');
  await ada.modalSays('Tell the code to nobody.');
  await shoot(ada, 'customer-link', { part: ada.modal });
  const opened = ada.page.context().waitForEvent('page');
  await ada.click(ada.page.getByRole('link', { name: 'Open the link, as the customer' }));
  const page = await opened;
  await page.setViewportSize({ width: 360, height: 640 });
  await page.screenshot({ path: `${folder}customer-code.png` });
  await page.getByLabel('Code from your bank').fill('123456');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'Paid' }).waitFor();
  await page.close();
  await ada.close();
  await ada.close();
}

async function shootCharges(ada: PersonWindow): Promise<void> {
  await ada.channel('pay-desk');
  await ada.type('/pay charge');
  await ada.review({ card: '1127', amount: '12500', reason: 'Renewal, asked for by phone' });
  await shoot(ada, 'charge-read-back', { part: ada.modal });
  await ada.press('Charge NGN 12,500.00');
  await ada.modalSays('3 of 3 tries left');
  await ada.enterCode('654321');
  await ada.modalSays('2 of 3 tries left');
  await shoot(ada, 'charge-otp', { part: ada.modal });
  await ada.enterCode('123456');
  await ada.modalSays('Paid (confirmed)');
  await shoot(ada, 'charge-paid', { part: ada.modal });
  await ada.close();
  await shootCustomer(ada);
  await ada.charge({ card: '6640', amount: '5000' });
  await ada.modalSays('Try again from');
  await shoot(ada, 'charge-declined', { part: ada.modal });
  await ada.close();
}

/** The App Home, with a charge that waits for a code. */
async function shootHome(ada: PersonWindow): Promise<void> {
  await ada.channel('pay-desk');
  await ada.charge({ card: '1127', amount: '8400' });
  await ada.modalSays('3 of 3 tries left');
  await ada.close();
  await ada.channel('Pay');
  await ada.click(ada.page.getByRole('tab', { name: 'Home' }));
  await ada.page.getByText('Waiting for a code').waitFor();
  const part = ada.page.getByRole('tabpanel', { name: 'Home' });
  await shoot(ada, 'home', { part, room: homeRoom });
}

/** A paid link, its saved card, and a searched list. */
async function shootDesk(ada: PersonWindow, { payments }: Playground): Promise<void> {
  await ada.channel('pay-desk');
  await ada.type('/pay link 2,500.00');
  await ada.modalSays('It charges nobody by itself');
  await ada.modal.getByRole('textbox', { name: /^Customer’s e-mail/ }).fill('ngozi.ike@example.com');
  await ada.press('Create the link');
  await ada.modalSays('Send it to the customer');
  await ada.close();
  const order = payments.state().orders.find(({ amount }) => amount === '2500.00');
  if (!order) throw new Error('There is no order.');
  await payments.act({ kind: 'pay_order', orderReference: order.orderReference, outcome: 'approved' });
  await ada.message('NGN 2,500.00').getByText('Paid (confirmed)').waitFor();
  await shootMessage(ada, 'NGN 2,500.00', 'link-paid');
  await ada.type('/pay cards ngozi.ike@example.com');
  await ada.message('1 saved card').waitFor();
  await shootMessage(ada, '1 saved card', 'cards');
  await ada.type('/pay terminals lekki kiosk');
  await ada.message('match “lekki kiosk”').waitFor();
  await shootMessage(ada, 'match “lekki kiosk”', 'terminals');
}

/** A charge that waits for approval, as the approver sees it. */
async function shootApproval(ada: PersonWindow, lead: PersonWindow): Promise<void> {
  await ada.channel('pay-desk');
  await ada.charge({ card: '4081', amount: '150000', reason: 'Renewal, asked for by phone' });
  await ada.modalSays('Sent to the approvers');
  await ada.close();
  await lead.channel('pay-ops');
  const card = lead.message('Needs approval');
  await card.getByText('Ada').waitFor();
  await shootMessage(lead, 'Needs approval', 'approval');
  await lead.click(card.getByRole('button', { name: 'Approve NGN 150,000.00' }));
  const sure = lead.page.getByRole('alertdialog');
  await lead.click(sure.getByRole('button', { name: 'Approve', exact: true }));
  const request = lead.page.locator('.channel article', { hasText: 'NGN 150,000.00' });
  await request.filter({ hasText: 'Paid (confirmed)' }).first().waitFor();
  const [reference] = /pay-[a-z0-9]{26}/.exec(await lead.message('NGN 150,000.00').innerText()) ?? [];
  await lead.type(`/pay story ${reference}`);
  await lead.message('started the charge').waitFor();
  await shootMessage(lead, 'started the charge', 'story');
}

async function shootCard(lead: PersonWindow): Promise<void> {
  await lead.channel('pay-desk');
  const card = lead.message('Declined by the bank');
  await lead.click(card.getByRole('button', { name: 'Acknowledge', exact: true }));
  await lead
    .message('Acknowledged by')
    .getByRole('button', { name: /repl(y|ies)/ })
    .waitFor();
  await shootMessage(lead, 'Declined by the bank', 'alert-acknowledged');
}

async function shootStorm(lead: PersonWindow): Promise<void> {
  await lead.channel('pay-alerts');
  await lead.tab('Saved cards');
  await lead.click(lead.page.getByRole('button', { name: 'Send 60 failures' }));
  // Slack takes a message a second, and alerts before the threshold have their own.
  await lead.page.getByText(/Storm: [56]\d failed charges/).waitFor({ timeout: 60_000 });
  await shootMessage(lead, 'Storm: ', 'alert-storm');
  await lead.type('/pay alerts');
  await lead.message('This channel gets alerts').waitFor();
  await shootMessage(lead, 'This channel gets alerts', 'alert-routes');
}

/** A channel for payments too, which soon uses a digest. */
const paidRule = `  - name: paid
    when: { event: payment_success }
    to: ${channelIds.general}
    digest_after: 5
`;

async function shootPayments(lead: PersonWindow, { payments }: Playground): Promise<void> {
  await lead.channel('general');
  const customers = Object.values(seedCards).map(({ customerEmail }) => customerEmail);
  for (let number = 0; number < 60; number += 1) {
    const customerEmail = customers[number % customers.length] ?? '';
    await payments.act({
      kind: 'approve_saved_card_charge',
      amount: `${2_000 + number * 310}.00`,
      customerEmail,
    });
  }
  await lead.page.getByText(/Many payments: [456]\d/).waitFor({ timeout: 60_000 });
  await shootMessage(lead, 'Many payments: ', 'many-payments');
}

/** The playground at a phone's width, for inspection; no page shows these. */
const narrowFolder = fileURLToPath(new URL('../.cache/pictures/', import.meta.url));

async function shootNarrow({ page, ...ada }: PersonWindow): Promise<void> {
  const shootIt = async (name: string): Promise<void> => {
    await page.screenshot({ path: `${narrowFolder}${name}.png` });
    console.log(`.cache/pictures/${name}.png`);
  };
  await ada.channel('pay-desk');
  await shootIt('desk-1280');
  await page.setViewportSize({ width: 390, height: 844 });
  await shootIt('desk-390');
  await ada.type('/pay charge');
  await ada.modalSays('You review it');
  await shootIt('form-390');
  await ada.close();
  const panel = page.getByRole('button', { name: 'Payments', exact: true });
  await panel.click();
  for (const tab of ['Events', 'Faults', 'Saved cards']) {
    await ada.tab(tab);
    await shootIt(`${tab.replace(' ', '-').toLowerCase()}-390`);
  }
  await panel.click();
  await page.getByRole('button', { name: 'HTTP exchanges' }).click();
  await shootIt('exchanges-390');
  await page.locator('.log summary').last().click();
  await page.getByRole('group', { name: 'Request' }).last().waitFor();
  await shootIt('exchange-390');
  await page.locator('.log summary').last().click();
  await page.getByRole('button', { name: 'HTTP exchanges' }).click();
  await page.getByText('Try this').click();
  await shootIt('guide-390');
  await page.getByText('Try this').click();
  await ada.channel('Pay');
  await ada.tab('Home');
  await page.getByText('Waiting for a code').waitFor();
  await shootIt('home-390');
  await page.getByRole('button', { name: 'Enter code' }).first().click();
  await ada.modalSays('3 of 3 tries left');
  await shootIt('code-390');
  await ada.close();
  await page.setViewportSize(size);
  await ada.channel('pay-desk');
}

async function waitForOpening({ url }: Playground): Promise<void> {
  for (;;) {
    const state = (await (await fetch(`${url}/state`)).json()) as PageState;
    if (state.openedAt !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

await mkdir(folder, { recursive: true });
await mkdir(narrowFolder, { recursive: true });
const playground = await startPlayground({ rules: paidRule });
await waitForOpening(playground);
const browser = await openBrowser({ viewport: size, deviceScaleFactor: 1.25 });
if (!browser) {
  console.error('The pictures need chromium.');
  await playground.close();
  process.exit(1);
}
try {
  const ada = openWindow(playground.url, await browser.context.newPage());
  await ada.be('ada');
  await shootLookUp(ada);
  await shootInvite(ada);
  await shootAlert(ada);
  const lead = openWindow(playground.url, await browser.context.newPage());
  await lead.be('lindiwe');
  await shootCard(lead);
  await shootCharges(ada);
  await shootHome(ada);
  await shootDesk(ada, playground);
  await shootApproval(ada, lead);
  await shootStorm(lead);
  await shootPayments(lead, playground);
  await shootNarrow(ada);
} finally {
  await browser.close();
  await playground.close();
}
