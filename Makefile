# Two commands matter: `make quick` answers how fast messages move on this machine, `make test` runs every test.
# The work is done by cargo and by `cargo xtask`; this file only names it.

PREFIX ?= /usr/local
DESTDIR ?=
PAIRS ?= 10
MDBOOK := 0.4.52
# As a part of the workspace, and `--examples` brings what only tests depend on: with features of its own cargo would compile
# it and all below it twice.
XTASK := cargo build --quiet --locked --workspace --bin xtask --examples

.PHONY: help quick build library test ladder peers docs install clean

help:
	@echo 'make quick     build in release and measure every transport of this machine (under 30 s)'
	@echo 'make test      install what the tests need, then run every check and test'
	@echo 'make ladder    the longer ladder: also deny, miri, fuzz, soak, chaos, peers'
	@echo 'make peers     benchmark beside ucx_perftest, sockperf and iperf3'
	@echo 'make docs      build the pages as a site in target/book'
	@echo 'make install   PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make clean     remove what was built'

quick: build
	@target/release/wirespeed quick

build:
	@cargo build --release --locked --bin wirespeed

library:
	@cargo build --release --locked --package wirespeed-capi

test:
	@$(XTASK)
	@target/debug/xtask test

ladder:
	@$(XTASK)
	@target/debug/xtask ladder

peers: build
	@cargo xtask peers $(PAIRS)

# A search of one's own pages needs mdBook; where it is missing and cannot be fetched, that is said and fails nothing.
docs:
	@PATH="$$PATH:$(CURDIR)/target/mdbook/bin"; \
	command -v mdbook > /dev/null || cargo install mdbook --locked --version $(MDBOOK) --root target/mdbook --quiet; \
	if command -v mdbook > /dev/null; then mdbook build; \
	else echo 'skipped: docs: mdbook $(MDBOOK) is not installed and cannot be fetched'; fi

install: build library
	@DESTDIR='$(DESTDIR)' cargo xtask install '$(PREFIX)'

clean:
	@cargo clean --quiet
