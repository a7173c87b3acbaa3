# Two commands matter: `make quick` answers how fast messages move on this machine, `make test` runs every test.
# The work is done by cargo and by `cargo xtask`; this file only names it.

PREFIX ?= /usr/local
DESTDIR ?=
PAIRS ?= 10

.PHONY: help quick build library test ladder peers install clean

help:
	@echo 'make quick     build in release and measure every transport of this machine (under 30 s)'
	@echo 'make test      install what the tests need, then run every check and test'
	@echo 'make ladder    the longer ladder: also deny, miri, fuzz, soak, peers'
	@echo 'make peers     benchmark beside ucx_perftest, sockperf and iperf3'
	@echo 'make install   PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make clean     remove what was built'

quick: build
	@target/release/wirespeed quick

build:
	@cargo build --release --locked --bin wirespeed

library:
	@cargo build --release --locked --package wirespeed-capi

test:
	@cargo build --quiet --locked --package xtask
	@target/debug/xtask test

ladder:
	@cargo build --quiet --locked --package xtask
	@target/debug/xtask ladder

peers: build
	@cargo xtask peers $(PAIRS)

install: build library
	@DESTDIR='$(DESTDIR)' cargo xtask install '$(PREFIX)'

clean:
	@cargo clean --quiet
	@rm -rf fuzz/target
