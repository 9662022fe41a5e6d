/** 12 to 19 digits in a row, with single spaces, dots or dashes between, not part of a longer word or number. */
const candidate = /(?<![\p{L}\p{N}])\d(?:[ .\-–—]?\d){12,18}(?![\p{L}\p{N}])/gu;

/**
 * Whether a card number stands in the text: card-length digits that pass the Luhn check and start like a
 * payment card. Called before anything is kept, echoed or logged, so it errs on the side of refusing.
 */
export function holdsCardNumber(text: string): boolean {
  for (const match of text.normalize('NFKC').matchAll(candidate)) {
    const digits = match[0].replace(/\D/g, '');
    if (/^[2-6]/.test(digits) && passesLuhn(digits)) return true;
  }
  return false;
}

export const cardNumberRefusal =
  'That looks like a card number. I did not keep it. Please delete your message if it is visible: card numbers must never be in Slack. To take a card, send the customer a checkout link.';

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
