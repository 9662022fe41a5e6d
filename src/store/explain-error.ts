import { networkTrouble, type NetworkTrouble, StoreUnavailable } from '../domain/failure.ts';

/** Why the store can't be used, and what to do about it. Contains nothing secret. */
type Explained = { detail: string; fix: string };

/**
 * Matched on errors of Redis, SQLite or the connection. No fix may lose records, because people follow it in a hurry.
 */
const causes: readonly (readonly [errorText: RegExp, detail: string, fix: string])[] = [
  [/\bOOM\b/, 'Redis is out of memory', 'Raise its maxmemory, or free some.'],
  [/\bMISCONF\b/, 'Redis cannot write to its disk', 'Free its disk; its own log says more.'],
  [
    /\bREADONLY\b/,
    'REDIS_URL leads to a replica',
    'Point it at the master. A failover needs nothing: the bot reconnects.',
  ],
  [
    /\bNOREPLICAS\b/,
    'too few replicas of Redis have the change',
    'Bring its replicas back: REDIS_WAIT_REPLICAS says how many are needed.',
  ],
  [
    /\bWRONGPASS\b/,
    'Redis refuses the user or the password (WRONGPASS)',
    'Put the right ones into REDIS_URL: redis://user:password@host:6379.',
  ],
  [
    /\bNOAUTH\b/,
    'Redis wants a password (NOAUTH)',
    'Put it into REDIS_URL: redis://:password@host:6379, or user:password@ for a user of its own.',
  ],
  [
    /\bNOPERM\b/,
    'Redis does not let this user do what the bot must (NOPERM)',
    'Give the user of REDIS_URL more rights, as a Redis admin: ACL SETUSER <user> ~* +@all -@dangerous +info +config|get.',
  ],
  [
    /\b(?:CLUSTERDOWN|MOVED|CROSSSLOT)\b/,
    'REDIS_URL leads to one node of a Redis Cluster, which does not serve these keys',
    'Write redis+cluster:// with several of its nodes; a Cluster that is down must be brought back first.',
  ],
  [
    /unknown command/i,
    'Redis lacks a command that the bot needs',
    'Use Redis 7 or newer, and let it carry out EVAL and EVALSHA.',
  ],
  [
    /max number of clients/,
    'Redis takes no more connections',
    'Raise its maxclients, or end what holds them.',
  ],
  [/\bLOADING\b/, 'Redis is still loading its data', 'None needed: it answers when it has finished.'],
  [
    /DB index is out of range/,
    'Redis has no database of that number',
    'Correct the number at the end of REDIS_URL, or take it out.',
  ],
  [
    /Unknown RESP type/,
    'What answers at REDIS_URL is not Redis',
    'Check host and port in REDIS_URL: another program listens there.',
  ],
  [
    /ECONNRESET|Socket closed unexpectedly/,
    'Redis closes the connection at once',
    'If it wants TLS, write rediss:// in REDIS_URL; else its own log says why.',
  ],
  [
    /Connection timeout|did not answer within|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|No answer for/,
    'Redis does not answer in time',
    'Check host and port in REDIS_URL, and the firewall; if it has no TLS, write redis:// and not rediss://.',
  ],
  [
    /database is locked/,
    'another process holds the store file',
    'Stop it, or let it end: one bot alone works on one DATA_DIR.',
  ],
  [
    /not a database|malformed/,
    'the file is damaged, or no SQLite file',
    'Stop every bot and copy DATA_DIR to a safe place before you change anything; then see Restore in docs/operating.md.',
  ],
  [
    /was moved, removed or replaced/,
    'the store file was moved, removed or replaced while the bot ran',
    'Move the file back, and the bot goes on at once. If it is gone, stop the bot and restore a backup: docs/operating.md.',
  ],
  [
    /\bE(?:ACCES|PERM)\b/,
    'this user may not use the store file, or its folder',
    'Run this as the bot’s user, who must own the file and its folder (chown).',
  ],
  [/\bENOENT\b/, 'the file or its folder is not there', 'Check DATA_DIR, and whether its disk is mounted.'],
  [
    /\bEISDIR\b/,
    'a folder stands in its place',
    'Move that folder away, and put the file back: Restore in docs/operating.md.',
  ],
  [/\b(?:ENOTDIR|EEXIST)\b/, 'DATA_DIR is no folder', 'Point DATA_DIR at the folder of the store.'],
  [
    /\bE[MN]FILE\b/,
    'too many files are open',
    'Raise the limit of open files (ulimit -n), and start this again.',
  ],
  [
    /unable to open database file/,
    'SQLite cannot open the file, or one beside it',
    'Check that DATA_DIR is there, and that this user may write to it and open more files (ulimit -n).',
  ],
  [
    /disk is full|\bENOSPC\b/,
    'the disk of DATA_DIR is full',
    'Free some of it. If the bot does not recover, restart it.',
  ],
  [
    /\bEROFS\b/,
    'the disk of DATA_DIR is read-only',
    'Make it writable again; the machine’s log says why it is not.',
  ],
  [
    /\bdisk\b|readonly database|\bEIO\b/,
    'the disk of DATA_DIR takes no writes',
    'Check the disk and whether this user may write to it. If the bot does not recover, restart it.',
  ],
];

const networkCauses: Readonly<Record<NetworkTrouble, Explained>> = {
  no_host: {
    detail: 'The host in REDIS_URL has no address',
    fix: 'Check the host in REDIS_URL, and whether this machine can look names up.',
  },
  refused: {
    detail: 'Redis does not answer: nothing listens there',
    fix: 'Start Redis, or check host and port in REDIS_URL.',
  },
  untrusted: {
    detail: 'The bot does not trust the certificate of Redis',
    fix: 'Set NODE_EXTRA_CA_CERTS to the file of the authority that signed it, and start the bot again.',
  },
  wrong_certificate: {
    detail: 'The certificate of Redis is not good for this host and this time',
    fix: 'Use the name that the certificate has in REDIS_URL, or have it renewed.',
  },
  no_tls: {
    detail: 'Redis does not speak TLS at that port',
    fix: 'Write redis:// in REDIS_URL, or its port for TLS.',
  },
};

/** Undefined: the text shows no known cause. */
export function explainStoreError(errorText: string): Explained | undefined {
  const trouble = networkTrouble(errorText);
  if (trouble !== undefined) return networkCauses[trouble];
  const found = causes.find(([cause]) => cause.test(errorText));
  return found && { detail: found[1], fix: found[2] };
}

/** How the store failed, and the fix if the error has a known cause. */
export function storeTrouble({ message, cause }: StoreUnavailable): { says: string; fix?: string } {
  const why = explainStoreError(cause instanceof Error ? cause.message : message);
  if (why === undefined) return { says: message };
  // The words of a file that can't be opened end with the fix.
  if (message.endsWith(` ${why.fix}`)) return { says: message.slice(0, -why.fix.length - 1), fix: why.fix };
  return { says: `The store does not answer: ${why.detail}.`, fix: why.fix };
}

/** The error's words for people, with the fix if the store's error has a known cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof StoreUnavailable)) return error instanceof Error ? error.message : 'Unknown error';
  const { says, fix } = storeTrouble(error);
  return fix === undefined ? says : `${says} ${fix}`;
}
