import type { Usage } from './protocol';

/** How long something has taken, as in "2m 5s". */
export function elapsed(from: string, to: string | undefined): string {
  const seconds = Math.max(0, Math.round(((to === undefined ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1000));
  if (seconds < 60) {
    return `${seconds}s`;
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** Tokens that were sent and received, as in "3.4k tok"; "" for none. */
export function tokens(usage: Usage): string {
  const n = usage.inputTokens + usage.outputTokens;
  if (n === 0) {
    return '';
  }
  return n < 1000 ? `${n} tok` : `${(n / 1000).toFixed(n < 100_000 ? 1 : 0)}k tok`;
}

/** What something has cost, as in "$0.02"; "" where it is not known or nothing. */
export function cost(usage: Usage): string {
  return usage.cost ? `$${usage.cost < 0.01 ? usage.cost.toFixed(4) : usage.cost.toFixed(2)}` : '';
}

/** "1 edit", "2 edits". */
export function plural(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** The beginning of a text, in one line. */
export function shortened(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** The parts that are not empty, with dots between them. */
export function dotted(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part).join(' · ');
}

/** The parts that are not empty, with commas between them. */
export function listed(...parts: (string | number)[]): string {
  return parts.filter((part) => part).join(', ');
}

/** The last part of a path or URI. */
export function baseName(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1));
}
