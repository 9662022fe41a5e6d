import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { InputBlock, KnownBlock, SectionBlock } from '@slack/types';
import type { PageBlock } from '../../simulators/protocol.ts';
import { drawElement, drawImage, type Spot } from './elements.ts';
import { known } from './form.ts';
import { drawText } from './glyph.ts';
import { icon } from './icons.ts';
import { drawTextObject, type Drawn } from './inline.ts';
import type { Container, Draw } from './model.ts';
import { drawRichText } from './rich-text.ts';

export type Surface = { container: Container; errors: Record<string, string> };

/** Blocks in their order. One that cannot be drawn says so and takes nothing else down with it. */
export function drawBlocks(blocks: PageBlock[], surface: Surface, draw: Draw): Drawn {
  return blocks.map((raw): Drawn => {
    const block = known(raw);
    const spot: Spot = { container: surface.container, blockId: raw.block_id ?? '', silent: false };
    try {
      return html`<div class="block block-${raw.type}">${drawBlock(block, spot, surface, draw)}</div>`;
    } catch {
      return html`<p class="undrawn">This ${raw.type} block could not be drawn.</p>`;
    }
  });
}

function drawBlock(block: KnownBlock, spot: Spot, surface: Surface, draw: Draw): Drawn {
  switch (block.type) {
    case 'section':
      return drawSection(block, spot, draw);
    case 'input':
      return drawInputBlock(block, spot, surface, draw);
    case 'actions':
      return block.elements.map((element) => drawElement(element, spot, draw));
    case 'context':
      return block.elements.map(
        (element) =>
          html`<span class="context-item"
            >${element.type === 'image' ? drawImage(element.alt_text) : drawTextObject(element, draw)}</span
          >`,
      );
    default:
      return drawStillBlock(block, draw);
  }
}

function drawStillBlock(block: KnownBlock, draw: Draw): Drawn {
  switch (block.type) {
    case 'header':
      return html`<h3>${drawText(block.text.text)}</h3>`;
    case 'divider':
      return html`<hr />`;
    case 'rich_text':
      return drawRichText(block, draw);
    case 'image':
      return html`${block.title ? html`<div class="image-title">${drawText(block.title.text)}</div>` : nothing}
      ${drawImage(block.alt_text)}`;
    default:
      return html`<p class="undrawn">This playground has no ${block.type} block.</p>`;
  }
}

function drawSection(block: SectionBlock, spot: Spot, draw: Draw): TemplateResult {
  return html`<div class="section-body">
      ${block.text ? html`<div class="section-text">${drawTextObject(block.text, draw)}</div>` : nothing}
      ${
        block.fields
          ? html`<div class="fields">
              ${block.fields.map((field) => html`<div class="field">${drawTextObject(field, draw)}</div>`)}
            </div>`
          : nothing
      }
    </div>
    ${
      block.accessory
        ? html`<div class="accessory">${drawElement(block.accessory, spot, draw)}</div>`
        : nothing
    }`;
}

function drawInputBlock(block: InputBlock, spot: Spot, surface: Surface, draw: Draw): TemplateResult {
  const scope = surface.container.type === 'view' ? surface.container.viewId : surface.container.ts;
  const base = `input-${scope}-${spot.blockId}`.replaceAll(/[^\w-]/g, '-');
  const error = surface.errors[spot.blockId];
  const described = [block.hint ? `${base}-hint` : '', error === undefined ? '' : `${base}-error`]
    .join(' ')
    .trim();
  const inner: Spot = {
    ...spot,
    silent: block.dispatch_action !== true,
    labelledBy: `${base}-label`,
    describedBy: described === '' ? undefined : described,
    invalid: error !== undefined,
    optional: block.optional === true,
  };
  return html`<div class="input-label" id="${base}-label">
      ${drawText(block.label.text)}
      ${block.optional === true ? html`<span class="optional">(optional)</span>` : nothing}
    </div>
    ${drawElement(block.element, inner, draw)}
    ${block.hint ? html`<p class="hint" id="${base}-hint">${drawText(block.hint.text)}</p>` : nothing}
    ${
      error === undefined
        ? nothing
        : html`<p class="field-error" id="${base}-error" role="alert">${icon('alert', 14)} ${error}</p>`
    }`;
}
