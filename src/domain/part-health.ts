/** `degraded`: it works, with less. `detail` and `fix` are read by anyone who reaches the port: nothing secret. */
export type PartHealth = { state: 'ok' | 'degraded' | 'down'; detail?: string; fix?: string };
