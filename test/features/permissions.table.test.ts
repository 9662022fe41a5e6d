import { describe, expect, it } from 'vitest';
import { permissions } from '../../src/features/registry.ts';
import { alertActions, moreChoices, writeMore } from '../../src/features/alerts/alert-buttons.ts';
import { cardActs, cardsActions, writeCardAct } from '../../src/features/cards/cards-message.ts';
import { permissionsOf } from '../../src/slack/command.ts';
import type { Role } from '../../src/slack/people/role.ts';
import {
  everyThing,
  permissionStage,
  who,
  type KnownToSlack,
  type Place,
  type Thing,
} from '../support/permission-stage.ts';
import { everyVerb } from '../../scripts/every-verb.ts';

/**
 * Who may do what, decided here and nowhere else: each thing that a person can type, press, submit, close, search or
 * choose, and the permission it needs. `|`: any one of these; `+`: all of these. Whoever adds one decides it here.
 */
const needs: Readonly<Record<string, string>> = {
  'type lookup INV-2041': 'lookup',
  'type lookup INV-2041 12,500.00': 'lookup',
  'type lookup "ORDER 17 B"': 'lookup',
  'type INV-2041': 'lookup',
  'press menu.lookup': 'lookup',
  'press lookup_home': 'lookup',
  'press look_up': 'lookup',
  'press look_up_open': 'lookup',
  'press look_up_again': 'lookup',
  'press look_up_share': 'lookup',
  'press proof_copy': 'lookup',
  'submit lookup_form': 'lookup',
  'press reveal_email': 'reveal',
  'type find ada@example.com': 'find',
  'type find 4242 12,500': 'find',
  'type find ada@example.com failed': 'find',
  'type ada@example.com': 'find',
  'press find_older': 'find',
  'press find_newest': 'find',
  'press find_failed': 'find',
  'press find_open': 'find',
  'press find_all': 'find',
  'type story pay-mfrggzdfmztwq2lknnwg23tpob': 'story',
  'type story INV-2041': 'story',
  'type story "ORDER 17 B" 2': 'story',
  'press story_open': 'story',
  'press story_earlier': 'story',
  'press story_later': 'story',
  'press story_file': 'story',
  'choose lookup': 'lookup',
  'choose lookup_here': 'lookup',
  'mention INV-2041': 'lookup',
  'type charge': 'charge',
  'type charge 12,500.00': 'charge',
  'type charge 12,500.00 ada@example.com': 'charge',
  'press menu.charge': 'charge',
  'press charge_change': 'charge',
  'press charge_more': 'charge',
  'press charge_another': 'charge',
  'press charge_link': 'link',
  'press charge_show': 'charge | otp | doubt',
  'press charge_check': 'charge | otp | doubt',
  'submit charge': 'charge',
  'submit charge_terms': 'charge',
  'search charge_card': 'charge',
  'choose charge': 'charge',
  'type otp': 'otp',
  'type otp pay-mfrggzdfmztwq2lknnwg23tpob': 'otp',
  'press menu.otp': 'otp',
  'press otp_enter': 'otp',
  'press otp_resend': 'otp',
  'press otp_take_over': 'otp',
  'press otp_make_link': 'otp',
  'press otp_take_back': 'otp',
  'submit otp': 'otp',
  'type link': 'link',
  'type link 100.00': 'link',
  'press menu.link': 'link',
  'press link_check': 'link',
  'press link_show': 'link',
  'press link_again': 'link',
  'submit link': 'link',
  'type card-email': 'card-email',
  'press menu.card-email': 'card-email',
  'press card_email_again': 'card-email',
  'submit card_email': 'card-email',
  'submit card_email_terms': 'card-email',
  'search card_email_card': 'card-email',
  'type cards ada@example.com': 'cards',
  'press cards.more': 'cards',
  'press cards.more charge:{"list":"l","index":0}': 'charge',
  'press cards.more changeEmail:{"list":"l","index":0}': 'card-email',
  'press cards.more remove:{"list":"l","index":0}': 'card-delete',
  'press cards.page': 'cards',
  'press cards.delete': 'card-delete',
  'submit cards_delete': 'card-delete',
  'type doubt': 'doubt',
  'press menu.doubt': 'doubt',
  'type terminals': 'terminals',
  'type terminals lekki': 'terminals',
  'type terminals 20700042': 'terminals',
  'press terminals.back': 'terminals',
  'press terminals.next': 'terminals',
  'press terminals.all': 'terminals',
  'press terminals.csv': 'terminals',
  'press terminals.anew': 'terminals',
  'press menu.terminals': 'terminals',
  'type accounts': 'accounts',
  'type accounts ikeja': 'accounts',
  'press accounts.back': 'accounts',
  'press accounts.next': 'accounts',
  'press accounts.all': 'accounts',
  'press accounts.csv': 'accounts',
  'press accounts.anew': 'accounts',
  'press menu.accounts': 'accounts',
  'type account PLAYGROUND-SUB-00003': 'accounts',
  'type account new': 'accounts + account-new',
  'press account.look_up': 'accounts',
  'press account.again': 'account-new',
  'submit account_new': 'account-new',
  'type approvals': 'approve | charge | card-email',
  'press menu.approvals': 'approve | charge | card-email',
  'press approval_approve': 'approve',
  'press approval_refuse': 'approve',
  'press approval_see': 'approve',
  'press approval_withdraw': 'approve | charge | card-email',
  'submit approval_refuse': 'approve',
  'submit approval_see': 'approve',
  'type mute': 'mute',
  'press mute_end': 'mute',
  'submit mute': 'mute',
  'type alerts': 'alerts',
  'press menu.alerts': 'alerts',
  'press send_test_alert': 'alerts',
  'press alert_acknowledge': 'alerts',
  'press alert_look_up': 'alerts | lookup',
  'press alert_close': 'alerts',
  'press alert_charge_again': 'charge',
  'press alert_link': 'link',
  'press alert_more': 'alerts',
  'press alert_more look_up:k': 'alerts | lookup',
  'press alert_more close:k': 'alerts',
  'press alert_more assign:k': 'alerts',
  'press alert_more snooze:k': 'alerts',
  'press storm_acknowledge_all': 'alerts',
  'press storm_resolve_all': 'alerts',
  'press storm_show_list': 'alerts',
  'press storm_list_back': 'alerts',
  'press storm_list_next': 'alerts',
  'press storm_csv': 'alerts',
  'submit alert_close': 'alerts',
  'submit alert_assign': 'alerts',
  'submit alert_snooze': 'alerts',
  'submit storm_resolve': 'alerts',
  'type doctor': 'doctor',
  'type undelivered': 'undelivered',
  'press undelivered.deliver_again': 'undelivered',
};

const verbs = everyVerb();
/** What is chosen from a menu, where each choice need not be for the same people. */
const choices = [
  ...moreChoices.map((choice) => `${alertActions.more} ${writeMore(choice, 'k')}`),
  ...cardActs.map((act) => `${cardsActions.more} ${writeCardAct(act, { list: 'l', index: 0 })}`),
];
const chosen = choices.map((name): Thing => {
  return { id: `press ${name}`, kind: 'press', name };
});
const things = [...everyThing(verbs), ...chosen];

const desk: Place = 'C0DESK0001';
const other: Place = 'C0OTHER001';
const message: Place = 'D0AGENT001';

/** Where a thing of its kind can be done at all. */
const places: Readonly<Record<Thing['kind'], readonly Place[]>> = {
  typed: [desk, other, message],
  mention: [desk, other],
  press: [desk, other, message, 'home', 'modal'],
  form: ['modal'],
  list: ['modal'],
  'global shortcut': ['anywhere'],
  'message shortcut': [desk, other, message],
};

/** Whether a role counts there. A form was opened where one may: it may be finished. */
function counts(channels: readonly string[] | undefined, place: Place): boolean {
  if (channels === undefined || place === 'modal') return true;
  return channels.includes(place === desk || place === other ? place : 'direct');
}

function gives(may: readonly string[], thing: Thing): boolean {
  const needed = needs[thing.id];
  if (needed === undefined) throw new Error(`nobody decided who may: ${thing.id}`);
  return needed
    .split(' + ')
    .every((any) => any.split(' | ').some((one) => may.includes(one) || may.includes('*')));
}

type Asked = { may: readonly string[]; channels?: readonly string[]; account?: Record<string, unknown> };

/** One role with one group, so that somebody can be taken out of it while the bot runs. */
function stage({ may, channels, account }: Asked) {
  const role: Role = { users: [], groups: ['S0GROUP001'], may, channels };
  const slack: KnownToSlack = {
    members: { S0GROUP001: [who] },
    accounts: account ? { [who]: account } : {},
    nowMs: 0,
  };
  return { slack, ...permissionStage(verbs, may.length === 0 ? {} : { role }, slack) };
}

type Stage = ReturnType<typeof stage>;

const stages = new Map<string, Stage>();
/** The same for all that change nothing of what Slack knows: to make one costs more than to act on it. */
function sharedStage(asked: Asked): Stage {
  const key = JSON.stringify(asked);
  const made = stages.get(key) ?? stage(asked);
  stages.set(key, made);
  return made;
}

/** What happened, in a word; a refusal that says nothing and one that lets something happen are neither. */
async function what(on: Stage, thing: Thing, place: Place): Promise<string> {
  const { ran, said } = await on.act(thing, place);
  const isRefused = said.includes('Not allowed');
  if (ran) return isRefused ? 'both done and refused' : 'done';
  // Slack shows a person no words for these.
  if (thing.kind === 'list') return 'refused';
  return isRefused ? 'refused' : 'nothing at all';
}

const single = permissions.map((permission): Asked => ({ may: [permission] }));
const holding: readonly Asked[] = [{ may: [] }, ...single, { may: ['*'] }];
const limits: readonly (readonly string[] | undefined)[] = [undefined, [desk], ['direct'], [desk, 'direct']];
const noMembers: readonly Asked[] = [
  { may: ['*'], account: { is_restricted: true } },
  { may: ['*'], account: { is_restricted: true, is_ultra_restricted: true } },
  { may: ['*'], account: { is_bot: true } },
  { may: ['*'], account: { deleted: true } },
  { may: ['*'], account: { team_id: 'T0OTHER001' } },
];

const elevenMinutesMs = 11 * 60_000;

describe('everything that can be asked of the bot', () => {
  it('has a decision of who may, and each decision has something it is about', () => {
    expect(things.map(({ id }) => id).toSorted()).toEqual(Object.keys(needs).toSorted());
  });

  it.each(things)(
    '$id: for who holds the permission, where the role counts, and nobody else',
    async (thing) => {
      const [found, wanted]: [string[], string[]] = [[], []];
      for (const { may } of holding) {
        // Where a role counts is one question for every permission: it is put to those that give it, and to nobody's.
        for (const channels of gives(may, thing) || may.length === 0 ? limits : [undefined]) {
          const on = sharedStage({ may, ...(channels ? { channels } : {}) });
          for (const place of places[thing.kind]) {
            const expected = gives(may, thing) && counts(channels, place) ? 'done' : 'refused';
            const given = `${may.join()} in ${channels?.join() ?? 'all'}, done in ${place}`;
            found.push(`${given}: ${await what(on, thing, place)}`);
            wanted.push(`${given}: ${expected}`);
          }
        }
      }
      expect(found).toEqual(wanted);
    },
  );

  it.each(things)('$id: never for a guest, a bot or who is of another workspace', async (thing) => {
    for (const asked of noMembers) {
      const on = sharedStage(asked);
      for (const place of places[thing.kind]) {
        expect([asked.account, await what(on, thing, place)]).toEqual([asked.account, 'refused']);
      }
    }
  });

  it.each(things)('$id: not any more for who lost the role or became a guest meanwhile', async (thing) => {
    const [place = desk] = places[thing.kind];
    const changes: ((slack: KnownToSlack) => void)[] = [
      ({ members }) => void (members['S0GROUP001'] = []),
      ({ accounts }) => void (accounts[who] = { is_restricted: true }),
      ({ accounts }) => void (accounts[who] = { deleted: true }),
    ];
    for (const change of changes) {
      const on = stage({ may: ['*'] });
      expect(await what(on, thing, place)).toBe('done');
      change(on.slack);
      on.slack.nowMs = elevenMinutesMs;
      expect(await what(on, thing, place)).toBe('refused');
    }
  });
});

describe('with several merchant accounts', () => {
  const accounts = ['main', 'lagos'] as const;
  const stagesOf = accounts.map((own) => {
    const role: Role = { users: [who], groups: [], may: ['*'], accounts: [own] };
    const slack: KnownToSlack = { members: {}, accounts: {}, nowMs: 0 };
    return { own, on: { slack, ...permissionStage(verbs, { role }, slack, accounts) } };
  });
  /** A shortcut names no account. */
  const named = things.filter(({ kind }) => !kind.endsWith('shortcut'));

  it.each(named)('$id: for the account that the role names, and for no other', async (thing) => {
    const [place = desk] = places[thing.kind];
    for (const { own, on } of stagesOf) {
      for (const asked of accounts) {
        const mark = asked === 'main' ? '' : '@lagos';
        const [first = '', ...rest] = thing.name.split(' ');
        const marked = [first + mark, ...rest].join(' ');
        const name = /typed|mention/.test(thing.kind) ? `${thing.name} --account ${asked}` : marked;
        const outcome = await what(on, { ...thing, name }, place);
        expect([own, asked, outcome]).toEqual([own, asked, own === asked ? 'done' : 'refused']);
      }
    }
  });
});

/** The verbs a text lists, by how they are typed in help. */
function listed(text: string): string[] {
  return verbs
    .filter(({ verb, usage }) => text.includes(JSON.stringify(`/pay ${verb} ${usage}`.trim())))
    .map(({ verb }) => verb);
}

function expected(may: readonly string[], channels: readonly string[] | undefined, place: Place): string[] {
  if (!counts(channels, place)) return [];
  return verbs
    .filter(({ verb, permission }) => {
      const typed = things.find(({ id }) => id === `type ${verb}`);
      return typed
        ? gives(may, typed)
        : permissionsOf({ permission }).some((one) => may.includes(one)) || may.includes('*');
    })
    .map(({ verb }) => verb);
}

describe('help, the menu and the App Home', () => {
  it.each(holding)('show what $may gives, where it counts, and nothing else', async ({ may }) => {
    for (const channels of limits) {
      const on = sharedStage({ may, ...(channels ? { channels } : {}) });
      for (const place of [desk, other, message]) {
        const { said } = await on.act({ kind: 'typed', name: 'help' }, place);
        expect(listed(said)).toEqual(expected(may, channels, place));
        const menu = (await on.act({ kind: 'typed', name: '' }, place)).said;
        const buttons = verbs.filter((verb) => verb.menu && menu.includes(`"menu.${verb.verb}"`));
        const shown = expected(may, channels, place);
        expect(buttons.map(({ verb }) => verb)).toEqual(
          verbs.filter((verb) => verb.menu && shown.includes(verb.verb)).map(({ verb }) => verb),
        );
      }
      const home = await on.openHome();
      const forms = verbs
        .filter(({ menu, field }) => menu?.opens === 'modal' && !field)
        .map(({ verb }) => verb);
      // Instead of a button.
      expect(home.includes('lookup_home')).toBe(expected(may, channels, 'home').includes('lookup'));
      expect(forms.filter((verb) => home.includes(`"menu.${verb}"`))).toEqual(
        forms.filter((verb) => expected(may, channels, 'home').includes(verb)),
      );
    }
  });
});
