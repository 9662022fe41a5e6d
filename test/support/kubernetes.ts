import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const folder = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));
/** The base for everybody, and the example that an operator copies and fills in. */
export const [baseFolder, exampleFolder] = [join(folder, 'base'), join(folder, 'example')];

type Probe = {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
};

export type Deployment = {
  spec: {
    replicas: number;
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds: number;
        automountServiceAccountToken: boolean;
        enableServiceLinks: boolean;
        securityContext: Record<string, unknown>;
        containers: [
          {
            envFrom: { configMapRef: { name: string } }[];
            env: { name: string; value: string }[];
            ports: { name: string; containerPort: number }[];
            startupProbe: Probe;
            livenessProbe: Probe;
            readinessProbe: Required<Probe>;
            lifecycle: { preStop: { exec: { command: [string, string] } } };
            securityContext: Record<string, unknown>;
            volumeMounts: { name: string; mountPath: string; readOnly: boolean }[];
          },
        ];
        volumes: {
          name: string;
          configMap?: { name: string };
          secret?: { secretName: string; defaultMode: number };
        }[];
      };
    };
  };
};

/** The file's content as the API server reads it: YAML 1.1, in which 0440 is octal. Throws if it is invalid. */
export function kubernetesFile<T>(folder: string, name: string): T[] {
  const text = readFileSync(join(folder, name), 'utf8');
  return parseAllDocuments(text, { version: '1.1' }).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as T;
  });
}

export function readDeployment(): Deployment {
  const [deployment] = kubernetesFile<Deployment>(baseFolder, 'deployment.yaml');
  if (!deployment) throw new Error('deployment.yaml holds nothing.');
  return deployment;
}
