// A model for other programs of this machine, over HTTP on the loopback address alone. Off unless a person asks for it; whoever asks
// without the token, from a web page or by another host's name learns nothing.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InputError, toWire, TrainyardError } from '../protocol/errors.ts';
import type { ServerAddress, ServerCounts } from '../protocol/serving.ts';
import { checkOutputs, describeModel, inferAnswer, parseInfer, parseRows, plainAnswers } from './inference.ts';
import type { ServedModel } from './served-model.ts';
import { median } from './speed.ts';

const loopback = '127.0.0.1';
/** Bytes of a request's body. */
const largestBody = 16 * 2 ** 20;
const mostConnections = 512;
/** Milliseconds. */
const headersWait = 10_000;
const requestWait = 30_000;
const idleWait = 60_000;
/** How late they may be noticed. */
const lookEvery = 5000;
/** Requests whose median is told. */
const remembered = 1000;

export interface ServeOptions {
  /** 0 = one that is free. */
  readonly port: number;
  readonly token: string;
}

export function newToken(): string {
  return `ty_${randomBytes(24).toString('base64url')}`;
}

/** A name that can stand in a path: what a person called the run, without what has a meaning there. */
export function pathName(name: string): string {
  return (
    name
      .normalize('NFKC')
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
      .replaceAll(/^[-.]+|-+$/g, '') || 'model'
  );
}

/** A refusal with its status. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export class ModelServer {
  readonly #model: ServedModel;
  readonly #name: string;
  readonly #token: Buffer;
  readonly #given: string;
  readonly #server: Server;
  readonly #durations = new Float64Array(remembered);
  #requests = 0;
  #failed = 0;
  #answered = 0;
  #closing = false;

  /** Throws InputError `input.port` when the port cannot be had. */
  static async open(model: ServedModel, { port, token }: ServeOptions): Promise<ModelServer> {
    const server = new ModelServer(model, token);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', (error: NodeJS.ErrnoException) => reject(explainPort(port, error)));
      server.#server.listen({ port, host: loopback, exclusive: true }, resolve);
    });
    return server;
  }

  private constructor(model: ServedModel, token: string) {
    this.#model = model;
    this.#name = pathName(model.name);
    this.#given = token;
    this.#token = digest(token);
    this.#server = createServer({
      requestTimeout: requestWait,
      headersTimeout: headersWait,
      keepAliveTimeout: idleWait,
      connectionsCheckingInterval: lookEvery,
    });
    this.#server.maxConnections = mostConnections;
    this.#server.on('request', (request, response) => void this.#answer(request, response));
    this.#server.on('clientError', (_error, socket) => {
      if (!socket.writable) return;
      const body = JSON.stringify({ error: 'That is no HTTP request.' });
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
  }

  get address(): ServerAddress {
    return { address: `http://${loopback}:${this.#port}`, token: this.#given, model: this.#name };
  }

  get counts(): ServerCounts {
    const kept = this.#durations.subarray(0, Math.min(this.#answered, remembered));
    return {
      requests: this.#requests,
      failed: this.#failed,
      medianMilliseconds: kept.length === 0 ? null : median([...kept]),
    };
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** What has been asked is answered; idle connections are closed. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const late = setTimeout(() => this.#server.closeAllConnections(), 2000);
    await closed;
    clearTimeout(late);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    this.#requests++;
    try {
      this.#admit(request);
      const answer = await this.#route(request);
      send(response, 200, answer, this.#closing ? { Connection: 'close' } : {});
      this.#durations[this.#answered++ % remembered] = performance.now() - start;
    } catch (error) {
      this.#failed++;
      const { status, body, headers } = refusalOf(error);
      send(response, status, body, headers);
      // What is left of a body that is not wanted is taken and dropped: to who still sends, a closed connection is no answer.
      request.resume();
    }
  }

  /** Who may ask: this machine's programs, by the address's own name, with the token. */
  #admit({ headers }: IncomingMessage): void {
    const hosts = [`${loopback}:${this.#port}`, `localhost:${this.#port}`];
    // A page of another site could reach the address by a name of its own (DNS rebinding); its own name it cannot hide.
    if (!hosts.includes(headers.host ?? '')) throw new Refusal(421, 'This server answers to 127.0.0.1 alone.');
    if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
      throw new Refusal(403, 'This server does not answer web pages.');
    }
    const [scheme = '', given = ''] = (headers.authorization ?? '').split(' ');
    if (scheme.toLowerCase() === 'bearer' && timingSafeEqual(digest(given), this.#token)) return;
    throw new Refusal(401, 'A token is required: Authorization: Bearer TOKEN.', { 'WWW-Authenticate': 'Bearer' });
  }

  async #route(request: IncomingMessage): Promise<object> {
    const [pathname] = (request.url ?? '/').split('?', 1);
    const model = this.#model;
    const own = `/v2/models/${this.#name}`;
    const path = decoded(pathname).replace(`${own}/versions/1`, own);
    switch (path) {
      case '/v2/health/live':
        return only(request, 'GET', { live: true });
      case '/v2/health/ready':
        return only(request, 'GET', { ready: !this.#closing });
      case '/v2':
        return only(request, 'GET', { name: 'trainyard', version: '1', extensions: [] });
      case own:
        return only(request, 'GET', describeModel(this.#name, model.features, model.output));
      case `${own}/ready`:
        return only(request, 'GET', { name: this.#name, ready: true });
      case `${own}/infer`: {
        only(request, 'POST', {});
        const infer = parseInfer(await readJson(request));
        checkOutputs(model.output, infer.request.outputs);
        return inferAnswer(this.#name, model.output, infer.request, await model.predict(infer.rows));
      }
      case '/predict': {
        only(request, 'POST', {});
        const rows = parseRows(await readJson(request));
        return plainAnswers(model.output, await model.predict(rows));
      }
      default:
        throw new Refusal(404, `There is nothing at ${path.slice(0, 200)}. Try POST /predict or POST ${own}/infer.`);
    }
  }
}

function only<T>({ method }: IncomingMessage, wanted: 'GET' | 'POST', answer: T): T {
  if (method === wanted || (wanted === 'GET' && method === 'HEAD')) return answer;
  throw new Refusal(405, `${method ?? ''} is not for this path: ${wanted} is.`, { Allow: wanted });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function finite(name: string, value: unknown): unknown {
  if (value !== Infinity && value !== -Infinity) return value;
  throw new Refusal(400, `The number of "${name}" is beyond ±1.8e308. Send null where it is unknown.`);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'] ?? 'application/json';
  if (!/^application\/json\b/i.test(type))
    throw new Refusal(415, `A body of ${type.slice(0, 100)} is not understood: send application/json.`);
  const tooLarge = new Refusal(413, `The body is larger than ${largestBody / 2 ** 20} MiB. Send fewer rows at a time.`);
  if (Number(request.headers['content-length'] ?? 0) > largestBody) throw tooLarge;
  const parts: Buffer[] = [];
  let bytes = 0;
  // The connection has to live on for the refusal.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > largestBody) throw tooLarge;
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  // What may be beyond ±1.8e308, which would be read as infinite and then as missing.
  const huge = /[eE]\+?0*[1-9]\d{2}|\d{300}/.test(text);
  try {
    return huge ? JSON.parse(text, finite) : JSON.parse(text);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { message } = error as Error;
    throw new Refusal(400, `The body is no JSON: ${message}.`);
  }
}

function refusalOf(error: unknown): { status: number; body: object; headers: Readonly<Record<string, string>> } {
  if (error instanceof Refusal) return { status: error.status, body: { error: error.message }, headers: error.headers };
  const { code, message, hint } = toWire(error);
  const known = error instanceof TrainyardError;
  const status = error instanceof InputError ? 400 : 500;
  return {
    status,
    body: known ? { error: `${message} ${hint}`.trim(), code } : { error: 'The prediction failed.', code },
    headers: {},
  };
}

function send(
  response: ServerResponse,
  status: number,
  answer: object,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.destroyed) return;
  const body = JSON.stringify(answer);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(body);
}

const portReasons: ReadonlyMap<string | undefined, string> = new Map([
  ['EADDRINUSE', 'another program has it'],
  ['EACCES', 'this account may not use it, as most may not those below 1024'],
]);

/** Why the server cannot listen there. */
export function explainPort(port: number, error: NodeJS.ErrnoException): Error {
  const reason = portReasons.get(error.code) ?? error.code ?? error.message;
  return new InputError(
    'input.port',
    `Port ${port} of this machine cannot be used: ${reason}.`,
    'Choose another port, or none: then a free one is found.',
  );
}
