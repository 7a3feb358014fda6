//! PROMISES 17: addresses of this machine or a private network are refused in every spelling.

use std::net::IpAddr;

use lathe_tools::FailureKind;
use lathe_tools::webfetch::{fetch_asked_for, is_public};

use super::support::Project;
use super::webfetch::{Names, Site, fetch};

#[rustfmt::skip] // A few to a line.
const PRIVATE: &[&str] = &[
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "127.0.0.1", "127.1.2.3", "100.64.0.1", "100.127.255.255",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:192.168.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::", "2001::1", "2001:db8::1",
    "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "100::1", "4000::1", "3fff::1",
];

const PUBLIC: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.1.1",
    "169.253.1.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
];

/// Spellings of private hosts.
const SPELT: &[&str] = &[
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:7f00:0001]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://10.0.0.1:8080/",
    "https://192.168.1.1/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http:127.0.0.1",
    "http:\\\\127.0.0.1\\",
    "http://%31%32%37.0.0.1/",
];

#[test]
fn only_addresses_of_the_public_internet_are_public() {
    for address in PRIVATE {
        assert!(!is_public(address.parse::<IpAddr>().unwrap()), "{address}");
    }
    for address in PUBLIC {
        assert!(is_public(address.parse::<IpAddr>().unwrap()), "{address}");
    }
}

#[tokio::test]
async fn private_addresses_are_refused_in_every_spelling_without_a_question() {
    for url in SPELT {
        let project = Project::new();
        let failure = fetch(&project, &[], Names::none(), url).await.unwrap_err();
        assert!(failure.text.contains("private network"), "{url}: {failure}");
        assert_eq!(project.asked(), [], "{url}");
    }
}

#[tokio::test]
async fn a_name_with_a_private_address_among_others_is_refused() {
    for address in PRIVATE {
        let names = Names::of(&[("site.test", &["8.8.8.8", address])]);
        let project = Project::new();
        let failure = fetch(&project, &[], names, "http://site.test/")
            .await
            .unwrap_err();
        assert!(
            failure.text.contains("private network"),
            "{address}: {failure}"
        );
    }
    for url in [
        "http://localhost/",
        "http://localhost./",
        "http://LOCALHOST:80/",
    ] {
        let names = Names::of(&[("localhost", &["127.0.0.1"]), ("localhost.", &["::1"])]);
        let failure = fetch(&Project::new(), &[], names, url).await.unwrap_err();
        assert!(failure.text.contains("private network"), "{url}: {failure}");
    }
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused() {
    let site = Site::start().await;
    for target in [
        "http://127.0.0.1:1/",
        "http://[::1]/",
        "http://2130706433/",
        "//10.0.0.1/",
        "http://inner.test/",
        "http://169.254.169.254/",
    ] {
        let project = Project::new();
        let names = Names::of(&[
            ("site.test", &["127.0.0.1"]),
            ("inner.test", &["192.168.0.7"]),
        ]);
        let url = site.url("site.test", &format!("/to?{target}"));
        let failure = fetch(&project, &["site.test"], names, &url)
            .await
            .unwrap_err();
        assert!(
            failure.text.contains("private network"),
            "{target}: {failure}"
        );
    }
    let project = Project::new();
    let names = Names::of(&[("site.test", &["127.0.0.1"])]);
    let url = site.url("site.test", "/to?file:///etc/passwd");
    let failure = fetch(&project, &["site.test"], names, &url)
        .await
        .unwrap_err();
    assert!(failure.text.contains("Only http and https"), "{failure}");
}

#[tokio::test]
async fn a_name_is_resolved_once_and_reached_at_the_checked_address() {
    let site = Site::start().await;
    let names = Names::of(&[("site.test", &["127.0.0.1"])]);
    let url = site.url("site.test", "/plain");
    // The system resolver does not know the name, so the checked address must have answered.
    let result = fetch(&Project::new(), &["site.test"], names.clone(), &url)
        .await
        .unwrap();
    assert_eq!(result.output, "plain words\n");
    assert_eq!(names.looked_up(), ["site.test"]);
}

#[tokio::test]
async fn a_denied_host_is_neither_resolved_nor_reached() {
    let names = Names::of(&[("site.test", &["127.0.0.1"])]);
    let project = Project::new().denying("webfetch");
    let failure = fetch(&project, &["site.test"], names.clone(), "http://site.test/")
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(names.looked_up(), Vec::<String>::new());
}

#[tokio::test]
async fn an_address_that_the_person_asked_for_is_fetched_under_the_same_rules() {
    let site = Site::start().await;
    let names = Names::of(&[("site.test", &["127.0.0.1"])]);
    let allowed = || vec!["site.test".to_owned()];
    let plain = site.url("site.test", "/plain");
    let fetched = fetch_asked_for(&plain, allowed(), &names).await;
    assert_eq!(fetched.unwrap(), b"plain words\n");

    let inward = site.url("site.test", "/to?http://127.0.0.1:1/");
    for (url, hosts, why) in [
        (plain.as_str(), vec![], "private network"),
        (inward.as_str(), allowed(), "private network"),
        ("file:///etc/passwd", vec![], "Only http and https"),
        ("nonsense", vec![], "is not an address"),
    ] {
        let failure = fetch_asked_for(url, hosts, &names).await.unwrap_err();
        assert!(failure.text.contains(why), "{url}: {failure}");
    }
}
