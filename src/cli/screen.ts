/** The streams of the process, as far as they are needed. */
export type Stream = {
  isTTY?: boolean;
  columns?: number;
  write: (text: string, written?: (error?: Error | null) => void) => boolean;
};

export type Screen = {
  /** Data. Resolves once it is written, so that a slow reader slows the reading and nothing piles up. */
  out(text: string): Promise<void>;
  /** One line for people, on standard error; nothing when they asked for quiet. */
  note(text: string): void;
  /** An error, on standard error whatever was asked for. */
  problem(text: string): void;
  /** Shows, where a person looks on, that work goes on, and how far it is; call what it gives when it is done. */
  progress(words: () => string): () => void;
};

/** A look-up that is answered at once shows nothing. */
const firstDrawMs = 300;
const drawEveryMs = 100;
const usualColumns = 80;
const clearLine = '\r\u001B[K';

type ScreenParts = { stdout: Stream; stderr: Stream; quiet: boolean; now: () => number };

export function createScreen({ stdout, stderr, quiet, now }: ScreenParts): Screen {
  const isWatched = stderr.isTTY === true && !quiet;
  let isDrawn = false;

  function clear(): void {
    if (isDrawn) stderr.write(clearLine);
    isDrawn = false;
  }
  function draw(words: string, sinceMs: number): void {
    const elapsedMs = now() - sinceMs;
    if (elapsedMs < firstDrawMs) return;
    isDrawn = true;
    // A terminal that does not know its width says 0.
    stderr.write(clearLine + progressLine(words, elapsedMs, stderr.columns || usualColumns));
  }

  return {
    out(text) {
      // The two share one terminal, where the line would stand in the middle of the data.
      if (stdout.isTTY) clear();
      return new Promise((resolve) => {
        // What cannot be written ends the process, by the stream's own event: nothing goes on here.
        stdout.write(text, (error) => {
          if (!error) resolve();
        });
      });
    },
    note(text) {
      clear();
      if (!quiet) stderr.write(`${text}\n`);
    },
    problem(text) {
      clear();
      stderr.write(`${text}\n`);
    },
    progress(words) {
      if (!isWatched) return () => undefined;
      const sinceMs = now();
      const timer = setInterval(() => draw(words(), sinceMs), drawEveryMs);
      return () => {
        clearInterval(timer);
        clear();
      };
    },
  };
}

/** "Reading terminals: 37 pages, 1,850 read · 12 s". How many pages there are is never known before the last. */
export function progressLine(words: string, elapsedMs: number, columns: number): string {
  const line = `⏳ ${words} · ${Math.floor(elapsedMs / 1_000)} s`;
  // A line that wraps could not be cleared; the sign takes two columns.
  return [...line].slice(0, Math.max(0, columns - 2)).join('');
}
