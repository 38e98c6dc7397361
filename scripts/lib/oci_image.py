#!/usr/bin/env python3
"""Writes a container image of a folder without a container engine: an OCI layout that is a docker archive as well, so that
`docker load`, `podman load` and `skopeo copy oci-archive:` read it. The same folder gives the same bytes."""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import tarfile


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def member(name: str, time: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mtime = time
    return info


def layer_of(root: pathlib.Path, time: int) -> bytes:
    """The folder as a tar file: everything belongs to root."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            info = tar.gettarinfo(path, str(path.relative_to(root)))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = time
            if info.isfile():
                info.type = tarfile.REGTYPE  # what is a hard link in the folder is a file in the layer
                with path.open("rb") as file:
                    tar.addfile(info, file)
            else:
                tar.addfile(info)
    return out.getvalue()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("root", type=pathlib.Path, help="the folder")
    arguments.add_argument("archive", type=pathlib.Path, help="what to write")
    arguments.add_argument("--name", required=True, help='such as "lockstep:1.0.0"')
    arguments.add_argument("--config", required=True, type=json.loads, help="Docker's `config` of an image, as JSON")
    arguments.add_argument("--time", required=True, type=int, help="the date of everything, in seconds since 1970")
    arguments.add_argument("--created", required=True, help="the same in the words of RFC 3339")
    wanted = arguments.parse_args()

    plain = layer_of(wanted.root, wanted.time)
    layer = gzip.compress(plain, compresslevel=6, mtime=0)
    config = json.dumps(
        {
            "architecture": "amd64",
            "os": "linux",
            "created": wanted.created,
            "config": wanted.config,
            "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
            "history": [{"created": wanted.created, "created_by": "scripts/package image"}],
        },
        sort_keys=True,
    ).encode()
    blobs = {digest(layer): layer, digest(config): config}
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest(config), "size": len(config)},
            "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest(layer), "size": len(layer)}],
        }
    ).encode()
    blobs[digest(manifest)] = manifest
    path_of = {name: "blobs/sha256/" + name.removeprefix("sha256:") for name in blobs}
    index = {
        "schemaVersion": 2,
        "manifests": [
            {
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "digest": digest(manifest),
                "size": len(manifest),
                "annotations": {
                    "io.containerd.image.name": "docker.io/library/" + wanted.name,
                    "org.opencontainers.image.ref.name": wanted.name.partition(":")[2],
                },
            }
        ],
    }
    docker = [{"Config": path_of[digest(config)], "RepoTags": [wanted.name], "Layers": [path_of[digest(layer)]]}]
    files = {
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
        "index.json": json.dumps(index).encode(),
        "manifest.json": json.dumps(docker).encode(),
        **{path_of[name]: data for name, data in blobs.items()},
    }
    with tarfile.open(wanted.archive, "w", format=tarfile.PAX_FORMAT) as tar:
        for folder in ("blobs", "blobs/sha256"):
            info = member(folder, wanted.time)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(info)
        for name, data in sorted(files.items()):
            info = member(name, wanted.time)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main()
