/** A POST as it goes over the wire: headers in order, names and values as written, one character a byte. */
export type WireRequest = { headers: readonly (readonly [name: string, value: string])[]; body: Buffer };

export function wireBytes({ headers, body }: WireRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${onOneLine(value)}`);
  const head = [
    'POST /webhooks/payments HTTP/1.1',
    'host: bot',
    ...lines,
    `content-length: ${body.length}`,
    'connection: close',
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** A line break would begin another header, and that is another request. */
function onOneLine(value: string): string {
  return value.replaceAll(/[\r\n\0]/g, '?');
}

/** The values of a header, as HTTP reads them: its name in any case, blanks around the value no part of it. */
export function valuesOf({ headers }: WireRequest, name: string): string[] {
  return headers.flatMap(([written, value]) =>
    written.toLowerCase() === name ? [onOneLine(value).replaceAll(/^[ \t]+|[ \t]+$/g, '')] : [],
  );
}
