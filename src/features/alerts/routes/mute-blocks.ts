import type { RichTextBlock } from '@slack/types';
import type { AlertRule, RoutePlace } from '../../../domain/alert-route.ts';
import { bold, richText } from '../../../slack/kit/blocks.ts';
import { briefMutes } from './brief-mutes.ts';
import { ruleLine } from './routes-message.ts';

/** Rules that are muted now, each with its end, `most` of them in a sentence; without whom they mention: here that would call them. */
export function muteBlocks(muted: readonly AlertRule[], place: RoutePlace, most: number): RichTextBlock[] {
  if (muted.length === 0) return [];
  const shown = muted.slice(0, most);
  const lines = shown.map(({ mention: _whom, ...rule }) => ruleLine(rule, place, beforeEveryEnd));
  return [richText([bold('Muted now')], ...lines, ...briefMutes(muted.slice(most)))];
}

/** They are muted, whatever the clock says by the time the line is made. */
const beforeEveryEnd = 0;
