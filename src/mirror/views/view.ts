/** A database view, as the mirror declares it. */
export interface View {
  readonly name: string;
  readonly columns: readonly ViewColumn[];
  /** The rest of the `select` after the columns: `from …`. */
  readonly from: string;
}

/** One column of a view. */
export interface ViewColumn {
  readonly name: string;
  readonly expression: string;
}
