//! The devices and transports that UCX finds, and what it says that each can do.
//!
//! It must never leave a memory domain or an interface open that it opened.

use super::caps::{Caps, Kind};
use super::link_interface::{Interface, Ways};
use crate::error::{UcxError, check};
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// A memory domain of UCX, open.
pub struct Domain {
    /// The library.
    pub loaded: &'static Loaded,
    /// What it is of.
    pub component: sys::uct_component_h,
    /// It.
    pub md: sys::uct_md_h,
}

// SAFETY: UCX lets any thread use a memory domain; registration is locked inside where it must be.
unsafe impl Send for Domain {}
// SAFETY: as for Send.
unsafe impl Sync for Domain {}

impl Drop for Domain {
    fn drop(&mut self) {
        // SAFETY: opened in `domains`, closed once; what was made from it holds a count of it.
        unsafe { self.loaded.ucx.uct_md_close(self.md) };
    }
}

/// One device under one transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// UCX's transport.
    pub tl: String,
    /// The device.
    pub device: String,
    /// What kind of device.
    pub kind: Kind,
}

/// A device with what it can do, or why it could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which.
    pub name: Name,
    /// What it can do.
    pub caps: Result<Caps, String>,
}

/// Every device that `wanted` takes, with what it can do, in UCX's order.
pub fn survey(loaded: &'static Loaded, wanted: impl Fn(&Name) -> bool) -> Result<Vec<Found>, UcxError> {
    let mut found = Vec::new();
    walk(loaded, |domain, name| {
        if wanted(&name) {
            let caps =
                Interface::open(domain.clone(), &name, Ways::default()).map(|interface| interface.caps());
            found.push(Found {
                name,
                caps: caps.map_err(|e| e.to_string()),
            });
        }
        false
    })?;
    Ok(found)
}

/// The memory domain of the device called `name`.
pub fn find(loaded: &'static Loaded, name: &Name) -> Result<Arc<Domain>, UcxError> {
    let mut found = None;
    walk(loaded, |domain, candidate| {
        let is_it = candidate == *name;
        if is_it {
            found = Some(domain.clone());
        }
        is_it
    })?;
    found.ok_or_else(|| UcxError::new(format!("{}/{}", name.tl, name.device), "it is gone"))
}

/// Show `visit` every device with its open memory domain, until it says that it has seen enough.
fn walk(loaded: &'static Loaded, mut visit: impl FnMut(&Arc<Domain>, Name) -> bool) -> Result<(), UcxError> {
    let mut components = null_mut();
    let mut count = 0;
    // SAFETY: two places to write to.
    let status = unsafe { loaded.ucx.uct_query_components(&mut components, &mut count) };
    check(loaded, "listing its components", status)?;
    let mut done = false;
    for index in 0..count as usize {
        // SAFETY: the list has `count` entries.
        let component = unsafe { *components.add(index) };
        for domain in domains(loaded, component) {
            for name in names(&domain) {
                done = done || visit(&domain, name);
            }
        }
    }
    // SAFETY: the list of above, given back once.
    unsafe { loaded.ucx.uct_release_component_list(components) };
    Ok(())
}

/// The memory domains of a component, as far as they open.
fn domains(loaded: &'static Loaded, component: sys::uct_component_h) -> Vec<Arc<Domain>> {
    // SAFETY: plain data, all-zero is valid; the mask says which fields UCX fills.
    let mut attributes: sys::uct_component_attr_t = unsafe { std::mem::zeroed() };
    attributes.field_mask = u64::from(sys::UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT);
    // SAFETY: the component is of UCX's list, the attributes are ours.
    let status = unsafe { loaded.ucx.uct_component_query(component, &mut attributes) };
    if status < 0 || attributes.md_resource_count == 0 {
        return Vec::new();
    }
    // SAFETY: plain data, all-zero is valid.
    let empty: sys::uct_md_resource_desc_t = unsafe { std::mem::zeroed() };
    let mut resources = vec![empty; attributes.md_resource_count as usize];
    attributes.field_mask = u64::from(sys::UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES);
    attributes.md_resources = resources.as_mut_ptr();
    // SAFETY: the array has room for as many as UCX counted.
    let status = unsafe { loaded.ucx.uct_component_query(component, &mut attributes) };
    if status < 0 {
        return Vec::new();
    }
    let open = |resource: &sys::uct_md_resource_desc_t| {
        let (mut config, mut md) = (null_mut(), null_mut());
        // SAFETY: no prefix and no file; a place to write to.
        let status = unsafe {
            loaded
                .ucx
                .uct_md_config_read(component, null(), null(), &mut config)
        };
        if status < 0 {
            return None;
        }
        // SAFETY: name and configuration come from UCX; the configuration is given back once.
        let status = unsafe {
            let status = loaded
                .ucx
                .uct_md_open(component, resource.md_name.as_ptr(), config, &mut md);
            loaded.ucx.uct_config_release(config.cast());
            status
        };
        (status == sys::UCS_OK).then(|| {
            Arc::new(Domain {
                loaded,
                component,
                md,
            })
        })
    };
    resources.iter().filter_map(open).collect()
}

/// The devices of a memory domain.
fn names(domain: &Domain) -> Vec<Name> {
    let ucx = &domain.loaded.ucx;
    let (mut resources, mut count) = (null_mut(), 0);
    // SAFETY: an open domain, two places to write to.
    let status = unsafe { ucx.uct_md_query_tl_resources(domain.md, &mut resources, &mut count) };
    if status < 0 {
        return Vec::new();
    }
    let name = |index: usize| {
        // SAFETY: the list has `count` entries.
        let resource = unsafe { &*resources.add(index) };
        Name {
            tl: text(&resource.tl_name),
            device: text(&resource.dev_name),
            kind: match resource.dev_type {
                sys::UCT_DEVICE_TYPE_NET => Kind::Network,
                sys::UCT_DEVICE_TYPE_SHM => Kind::SharedMemory,
                sys::UCT_DEVICE_TYPE_SELF => Kind::Loopback,
                _ => Kind::Accelerator,
            },
        }
    };
    let names = (0..count as usize).map(name).collect();
    // SAFETY: the list of above, given back once.
    unsafe { ucx.uct_release_tl_resource_list(resources) };
    names
}

/// A name in a fixed field.
fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|c| *c as u8).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `name` for UCX.
pub fn terminated(name: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = name.bytes().filter(|b| *b != 0).collect();
    bytes.push(0);
    debug_assert!(CStr::from_bytes_with_nul(&bytes).is_ok());
    bytes
}
