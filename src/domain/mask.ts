/**
 * An e-mail as a channel may see it: first letter of the name and the whole domain, "j***@example.com".
 * The number of stars is fixed, so that the length tells nothing.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  if (at <= 0) return '***';
  const [first = ''] = email;
  return `${first}***@${email.slice(at + 1)}`;
}

/** A telephone number as a message may show it: its last four digits, "***4567". */
export function maskPhone(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.length > 4 ? `***${digits.slice(-4)}` : '***';
}
