import { describe, expect, it } from 'vitest';
import { everyInput, everyMessageBlock, message, view } from './canned.ts';
import { chromiumIsMissing, openPageForEach } from './open-page.ts';

function option(value: string): object {
  return { text: { type: 'plain_text', text: value }, value };
}

describe.skipIf(chromiumIsMissing)('Block Kit on the page', () => {
  const open = openPageForEach();

  it('draws every kind of block that a message may hold', async () => {
    const blocks = everyMessageBlock('Chidi *Eze*');
    open.canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C1: [message('1700000000.1', { blocks })] },
    }));
    const drawn = open.page.locator('.message .block');
    await expect.poll(() => drawn.count()).toBe(blocks.length);
    expect(await open.page.locator('.undrawn').count()).toBe(0);
    expect(await open.page.locator('.block-section b').first().textContent()).toBe('Eze');
    expect(await open.page.locator('.block-header').innerText()).toBe('Chidi *Eze*');
    expect(await open.page.getByRole('combobox', { name: 'Terminal' }).count()).toBe(1);
  });

  it('keeps what others write from becoming markup, script or a script address', async () => {
    const evil =
      '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"\'`<javascript:window.pwned=1|go>';
    open.canned.show((state) => ({
      ...state,
      user: { ...state.user, realName: evil },
      channels: state.channels.map((channel) => ({ ...channel, topic: evil })),
      messages: {
        ...state.messages,
        C1: [
          message('1700000000.1', {
            text: evil,
            authorName: evil,
            blocks: everyMessageBlock(evil),
            attachments: [{ color: evil, blocks: everyMessageBlock(evil) }],
          }),
          message('1700000000.2', { text: evil }),
        ],
      },
      views: [view(everyInput(evil), { title: evil, submit: evil, close: evil, errors: { otp: evil } })],
      log: [
        {
          id: 1,
          at: 1,
          from: 'bot',
          to: 'slack',
          method: evil,
          path: evil,
          status: 200,
          durationMs: 1,
          summary: evil,
        },
      ],
    }));
    await open.page.locator('#view-dialog .block-input').first().waitFor();
    expect(await open.page.evaluate('window.pwned')).toBeUndefined();
    expect(await open.page.locator('img').count()).toBe(0);
    expect(await open.page.locator('#root script').count()).toBe(0);
    expect(await open.page.locator('[href^="javascript"]').count()).toBe(0);
    expect(await open.page.locator('.message').last().locator('.message-body').innerText()).toContain(
      '<img src=x',
    );
  });

  it('submits a modal with what was typed and with the values it began with', async () => {
    await open.page.locator('#composer').focus();
    open.canned.show((state) => ({ ...state, views: [view(everyInput('x'))] }));
    const dialog = open.page.getByRole('dialog', { name: 'Charge a saved card' });
    await dialog.waitFor();
    expect(await open.page.evaluate('document.activeElement.value')).toBe('12,500.00');
    await dialog.getByRole('textbox', { name: 'otp x' }).fill('1234567');
    await dialog.getByRole('textbox', { name: 'email x' }).fill('a@example.com');
    await dialog.getByRole('combobox', { name: 'card x' }).selectOption('Visa');
    await dialog.getByRole('checkbox', { name: 'agree' }).check();
    await dialog.getByRole('radio', { name: 'later' }).check();
    await dialog.getByRole('button', { name: 'Charge' }).click();
    const [request] = (await open.acted(1)) as unknown as [
      { values: Record<string, { a: Record<string, unknown> }> },
    ];
    expect(request).toMatchObject({ user: 'U1', kind: 'submit_view', viewId: 'V1' });
    expect(Object.fromEntries(Object.entries(request.values).map(([block, { a }]) => [block, a]))).toEqual({
      amount: { type: 'plain_text_input', value: '12,500.00' },
      otp: { type: 'plain_text_input', value: '123456' },
      note: { type: 'plain_text_input', value: null },
      email: { type: 'email_text_input', value: 'a@example.com' },
      count: { type: 'number_input', value: '3' },
      date: { type: 'datepicker', selected_date: '2026-11-20' },
      card: { type: 'static_select', selected_option: option('Visa') },
      who: { type: 'users_select', selected_user: 'U2' },
      checks: { type: 'checkboxes', selected_options: [option('read'), option('agree')] },
      radio: { type: 'radio_buttons', selected_option: option('later') },
      several: { type: 'multi_static_select', selected_options: [option('b')] },
    });
  });

  it('shows a field’s error beside it, and an answer under way as busy', async () => {
    open.canned.show((state) => ({
      ...state,
      views: [view(everyInput('x'), { errors: { otp: 'Four to six digits.' }, busy: true })],
    }));
    const otp = open.page.getByRole('textbox', { name: 'otp x' });
    await otp.waitFor();
    expect(await otp.getAttribute('aria-invalid')).toBe('true');
    expect(await open.page.getByRole('alert').filter({ hasText: 'Four to six digits.' }).count()).toBe(1);
    expect(await open.page.getByRole('button', { name: 'Charge' }).isDisabled()).toBe(true);
  });

  it('keeps the focus in a modal, closes the top view on Escape and gives the focus back', async () => {
    const first = view(everyInput('x'), { id: 'V1' });
    await open.page.locator('#composer').focus();
    open.canned.show((state) => ({ ...state, views: [first, view([], { id: 'V2', title: 'Read back' })] }));
    await open.page.getByRole('dialog', { name: 'Read back' }).waitFor();
    for (let press = 0; press < 12; press += 1) {
      await open.page.keyboard.press('Tab');
      expect(await open.page.evaluate('!document.activeElement.closest(".page")')).toBe(true);
    }
    await open.page.getByRole('button', { name: 'Charge' }).focus();
    await open.page.keyboard.press('Escape');
    expect(await open.acted(1)).toEqual([{ user: 'U1', kind: 'close_view', viewId: 'V2' }]);
    open.canned.show((state) => ({ ...state, views: [] }));
    await expect.poll(() => open.page.evaluate('document.activeElement.id')).toBe('composer');
  });

  it('asks before a button that wants to be confirmed, and sends nothing on no', async () => {
    open.canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C1: [message('1700000000.1', { blocks: everyMessageBlock('x') })] },
    }));
    const refund = open.page.getByRole('button', { name: 'Refund NGN 5.00' });
    await refund.click();
    const dialog = open.page.getByRole('alertdialog', { name: 'Refund NGN 5.00?' });
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await refund.click();
    await open.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(open.canned.acts).toEqual([]);
    await refund.click();
    await dialog.getByRole('button', { name: 'Refund it' }).click();
    expect(await open.acted(1)).toMatchObject([
      {
        kind: 'block_action',
        blockId: 'actions',
        actionId: 'refund',
        element: { type: 'button', value: 'r1', action_id: 'refund', block_id: 'actions' },
        container: { type: 'message', channel: 'C1', ts: '1700000000.1' },
        values: { actions: { static: { type: 'static_select', selected_option: null } } },
      },
    ]);
  });

  it('works selects, the overflow menu and a searched select as Slack sends them', async () => {
    open.canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C1: [message('1700000000.1', { blocks: everyMessageBlock('x') })] },
    }));
    await open.page.getByRole('combobox', { name: 'Who' }).selectOption('U2');
    await open.page.getByRole('button', { name: 'More', exact: true }).press('Enter');
    await open.page.keyboard.press('ArrowDown');
    await open.page.keyboard.press('ArrowUp');
    await open.page.keyboard.press('Enter');
    await open.acted(2);
    open.canned.answer({
      ok: true,
      options: [{ text: { type: 'plain_text', text: 'Till 7' }, value: 't7' }],
    });
    await open.page.getByRole('combobox', { name: 'Terminal' }).pressSequentially('7');
    await open.page.getByRole('option', { name: 'Till 7' }).waitFor();
    await open.page.keyboard.press('Enter');
    expect(await open.acted(4)).toMatchObject([
      { actionId: 'users', element: { type: 'users_select', selected_user: 'U2' } },
      { actionId: 'over', element: { type: 'overflow', selected_option: { value: 'Mute' } } },
      { kind: 'suggest', actionId: 'external', text: '7' },
      { actionId: 'external', element: { type: 'external_select', selected_option: { value: 't7' } } },
    ]);
  });
});
