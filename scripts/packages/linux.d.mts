export interface LinuxPackages {
  readonly folder?: string;
  readonly output?: string;
  readonly arch?: string;
  readonly compression?: 'best' | 'none';
  readonly kinds?: readonly ('deb' | 'tar.xz')[];
}
export function packLinux(options?: LinuxPackages): Promise<string[]>;
export function commitTime(): number;
