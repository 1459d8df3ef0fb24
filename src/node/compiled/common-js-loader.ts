/** What is used of `node:module` beyond its declared types. */
export interface CommonJsLoader {
  new (path: string): CommonJsModule;
  _cache: Record<string, CommonJsModule | undefined>;
}

export interface CommonJsModule {
  exports: object;
  filename: string;
  loaded: boolean;
  require(request: string): unknown;
  _compile?(text: string, path: string): void;
}
