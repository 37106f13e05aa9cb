#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A container image from a folder, as an OCI layout in a tar file that `ctr images import` takes.

usage: image.py NAME FOLDER OUT.tar [--user USER] -- ENTRYPOINT...
"""
import argparse
import hashlib
import io
import json
import platform
import tarfile

ARCHITECTURE = {'x86_64': 'amd64', 'aarch64': 'arm64'}


def as_root(member):
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ''
    return member


def layer_of(folder):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode='w') as tar:
        tar.add(folder, arcname='.', filter=as_root)
    return data.getvalue()


class Layout:
    """Blobs by their digest, then the index that names the image."""

    def __init__(self, path):
        self.tar = tarfile.open(path, mode='w')

    def file(self, name, data):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        self.tar.addfile(member, io.BytesIO(data))

    def blob(self, kind, data):
        digest = hashlib.sha256(data).hexdigest()
        self.file(f'blobs/sha256/{digest}', data)
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': f'sha256:{digest}', 'size': len(data)}


def write(name, folder, out, entrypoint, user):
    layout = Layout(out)
    data = layer_of(folder)
    layer = layout.blob('layer.v1.tar', data)
    config = layout.blob('config.v1+json', json.dumps({
        'architecture': ARCHITECTURE.get(platform.machine(), platform.machine()), 'os': 'linux',
        'config': {'Entrypoint': entrypoint, 'User': user},
        'rootfs': {'type': 'layers', 'diff_ids': [layer['digest']]}}).encode())
    manifest = layout.blob('manifest.v1+json', json.dumps({
        'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json', 'config': config,
        'layers': [layer]}).encode())
    layout.file('oci-layout', b'{"imageLayoutVersion": "1.0.0"}')
    layout.file('index.json', json.dumps({
        'schemaVersion': 2, 'manifests': [{**manifest, 'annotations': {'io.containerd.image.name': name}}]}).encode())
    layout.tar.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('name')
    parser.add_argument('folder')
    parser.add_argument('out')
    parser.add_argument('--user', default='0')
    parser.add_argument('entrypoint', nargs='+')
    args = parser.parse_args()
    write(args.name, args.folder, args.out, args.entrypoint, args.user)


if __name__ == '__main__':
    main()
