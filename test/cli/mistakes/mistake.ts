/** The parts that a mistake is made with, as `stage.ts` sets them up. */
export interface Stage {
  readonly folder: string;
  /** The sandbox, without and with TLS in front of it; the certificate of the second is signed by itself. */
  readonly service: string;
  readonly tlsService: string;
  /** A Redis that requires a password, and a PostgreSQL database whose user lacks all rights. */
  readonly redisPort: number;
  readonly postgres: string;
  readonly postgresWithoutRights: string;
  /** Writes a file and returns its path. */
  readonly file: (name: string, text: string) => string;
}

/** A mistake of everyday: a command line and its surroundings, and what the program must make of them. */
export interface Mistake {
  readonly title: string;
  readonly argv: readonly string[] | ((stage: Stage) => readonly string[]);
  /** Over the settings that would have worked; an empty text takes one away. */
  readonly env?: Readonly<Record<string, string>> | ((stage: Stage) => Readonly<Record<string, string>>);
  readonly stdin?: string;
  readonly code: 1 | 2;
  /** The message holds each of these: the cause, the value unless it is secret, the next step. */
  readonly message: readonly string[];
  /** Secret, and so absent from all output. */
  readonly hides?: string;
}
