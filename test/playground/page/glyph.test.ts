import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { drawText } from '../../../src/playground/page/glyph.ts';

const root = fileURLToPath(new URL('../../../src/', import.meta.url));

function symbolsIn(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap(
      (name) => readFileSync(`${root}${folder}/${name}`, 'utf8').match(/\p{Emoji_Presentation}/gu) ?? [],
    );
}

describe('a symbol in the bot’s words', () => {
  it('is drawn by the page itself, for machines without an emoji font', () => {
    const symbols = [...new Set(['slack', 'features', 'messages', 'domain'].flatMap(symbolsIn))];
    expect(symbols).toContain('✅');
    expect(symbols.filter((symbol) => drawText(symbol).every((piece) => typeof piece === 'string'))).toEqual(
      [],
    );
  });
});
