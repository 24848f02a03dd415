//! The sentences that rules understand, as a closed list: whatever isn't here gets the task refused.
//!
//! A form must never match a sentence that limits or varies the edit. That is why relative clauses may
//! speak of calls of the symbol only, and why files, tests and other names occur nowhere but in lists of
//! what not to touch.

use super::grammar::{Class, Grammar};
use super::prose::Token;

/// Forms that ask for the operation; each holds exactly one assignment.
pub(super) const ASKS: &[&str] = &["asks"];
/// Forms that name what not to touch.
pub(super) const SPARES: &[&str] = &["spares", "confines"];
/// Forms that ask for nothing.
pub(super) const HARMLESS: &[&str] = &["restates", "describes", "keeps", "explains", "verifies", "label"];

pub(super) fn grammar() -> Grammar {
    Grammar::new(FORMS, CLASSES)
}

/// Words that may make a free remark more than a remark.
const LOADED: &[&str] = &[
    "only",
    "except",
    "excepting",
    "excluding",
    "exclude",
    "unless",
    "if",
    "when",
    "where",
    "whenever",
    "wherever",
    "but",
    "not",
    "never",
    "without",
    "instead",
    "must",
    "should",
    "shall",
    "may",
    "need",
    "needs",
    "pass",
    "passes",
    "passing",
    "add",
    "adds",
    "set",
    "sets",
    "skip",
    "ignore",
    "leave",
    "avoid",
    "do",
    "don't",
    "until",
    "some",
    "most",
    "use",
    "rather",
    "besides",
    "just",
    "than",
    "scope",
    "out",
    "irrelevant",
    "test",
    "tests",
];

/// Words that begin a judgement on what was listed.
const JUDGING: &[&str] = &["which", "that", "are", "is", "so", "be", "these", "those", "they"];

/// Whether the token may be a limit of the edit; decides how a refusal is worded, never whether.
pub(super) fn may_limit(token: &Token) -> bool {
    match token {
        Token::Word { lower, .. } => {
            LOADED.contains(&lower.as_str()) || matches!(lower.as_str(), "in" | "for" | "other" | "apart")
        }
        Token::File | Token::Assign { .. } => true,
        Token::Symbol | Token::Name(_) | Token::Parameter | Token::Code(_) | Token::Punctuation(_) => false,
    }
}

fn is_free(token: &Token) -> bool {
    match token {
        Token::Word { lower, .. } => is_free_word(token) && !JUDGING.contains(&lower.as_str()),
        Token::Punctuation(c) => matches!(c, ',' | '(' | ')'),
        Token::Symbol | Token::Name(_) | Token::Code(_) | Token::File | Token::Parameter => true,
        Token::Assign { .. } => false,
    }
}

fn is_free_word(token: &Token) -> bool {
    matches!(token, Token::Word { lower, .. } if !LOADED.contains(&lower.as_str()))
}

const CLASSES: &[Class] = &[
    ("SYMBOL", |t| *t == Token::Symbol),
    ("NAME", |t| matches!(t, Token::Name(_))),
    ("ASSIGN", |t| matches!(t, Token::Assign { .. })),
    ("FILE", |t| *t == Token::File),
    ("VALUE", |t| matches!(t, Token::Code(_) | Token::Name(_))),
    ("TYPED", |t| matches!(t, Token::Parameter | Token::Name(_) | Token::Assign { .. })),
    ("FREE", is_free),
    ("FREEWORD", is_free_word),
    ("COMMA", |t| *t == Token::Punctuation(',')),
    ("COLON", |t| *t == Token::Punctuation(':')),
    ("SEMI", |t| *t == Token::Punctuation(';')),
    ("DASH", |t| *t == Token::Punctuation('—')),
    ("OPEN", |t| *t == Token::Punctuation('(')),
    ("CLOSE", |t| *t == Token::Punctuation(')')),
];

const FORMS: &[(&str, &str)] = &[
    // What is called, and where.
    ("kindword", "function | method | class | constructor"),
    ("sym", "( the | this | that | our )? <kindword>? SYMBOL ( <kindword> | itself )* | it | ( the | this | that ) <kindword>"),
    ("quant", "( every | each | all | any | the | all the | all of the | each of the | every single | each and every )?"),
    ("adj", "( true | actual | real | genuine | existing )*"),
    ("call", "call | calls | call site | call sites | callsite | callsites | call-site | call-sites | caller | callers
        | invocation | invocations | usage | usages | call expression | call expressions"),
    ("place", "place | places | location | locations | spot | spots | code"),
    ("scope", "everywhere | anywhere | ( in | across | throughout | within | over ) ( the | this | our )? ( entire | whole | complete )?
        ( codebase | code base | code | project | repository | repo | workspace | source tree | tree )"),
    ("of", "( of | to ) <sym> | ( that | which ) ( call | calls | invoke | invokes | use | uses ) <sym>
        | ( where | in which ) <sym> is ( called | invoked | used ) | calling <sym>"),
    ("calls", "<quant> <adj> SYMBOL? <call> <scope>? <of>? <scope>? | <quant> <adj> <place> <scope>? <of> <scope>?
        | ( every | each | all ) SYMBOL <scope>?
        | ( everywhere | wherever | whenever | every time | each time ) <sym> is ( called | invoked | used ) <scope>?"),
    ("them", "it | them | each | each one | each of them | every one | every one of them | all of them | all"),
    ("target", "<calls> | <them> | <scope>"),
    // The argument.
    ("argnoun", "argument | arg | kwarg | keyword | keyword argument | named argument | keyword arg"),
    ("paramnoun", "<argnoun> | parameter | param | option | flag | value | keyword parameter"),
    ("argadj", "new | extra | additional | explicit | required"),
    ("arg", "( the | an | a | its )? <argadj>* <argnoun>? ASSIGN ( as ( a | an | the )? <argadj>* <argnoun> | <argnoun> )? explicitly?"),
    ("param", "( the | an | a | its )? <argadj>* <paramnoun>? ASSIGN ( as ( a | an | the )? <argadj>* <paramnoun> | <paramnoun> )? explicitly?"),
    // Who speaks.
    ("lead", "( please | you should | you must | you need to | we should | we must | we need to | we want to | i want you to
        | i'd like you to | your task is to | the task is to | the goal is to | now | then | next | finally | first | also | let's | and )*"),
    ("modal", "( must | should | shall | will | has to | have to | needs to | need to | ought to | is to | are to
        | is required to | are required to ) ( now | always | also | explicitly )*"),
    ("adverb", "( now | always | also | explicitly | then )*"),
    ("give", "pass | passes | supply | supplies | provide | provides | send | sends"),
    ("put", "add | adds | set | sets | give | gives | specify | specifies | include | includes | append | insert
        | have | has | receive | receives | contain | contains"),
    ("update", "update | change | modify | edit | adjust | fix | rewrite | extend | migrate"),
    ("see", "ensure | make sure"),
    ("find", "find | locate | identify | visit | go through | look for | search for | go over"),
    ("at", "to | in | at | for | on | with | into | from"),
    // Asking for it.
    ("doing", "<adverb> ( <give> | <put> ) <param> ( <at> <target> )*"),
    ("so", "to | so that ( it | they | each | each one ) <modal>? | so ( it | they ) <modal>? | such that ( it | they ) <modal>?"),
    ("asks", "<lead> ( <asks-update> | <asks-see> | <asks-plain> | <asks-must> | <asks-find> | <asks-where> | <asks-call> | <asks-passive> )"),
    ("asks-update", "<update> <target> accordingly? ( <so> <doing> | ( with | by adding | by passing | by supplying ) <param> )
        | ( make | have | let ) <calls> <doing> | get <calls> to <doing>"),
    ("asks-see", "<see> that? <calls> <modal>? <doing>"),
    ("asks-plain", "<adverb> ( <give> <param> | <put> <arg> | <put> <param> <at> <target> )
            ( <at> <target> | <scope> | ( when | whenever | wherever | everywhere ) ( calling <sym> | <sym> is ( called | invoked | used ) ) )*
        | <adverb> <give> <param> to <sym> <scope>?"),
    ("asks-must", "<calls> <modal> ( be ( updated | changed | modified | adjusted | rewritten ) <so> )? <doing>
        | <calls> ( need | needs | require | requires ) <param>
        | <sym> <modal> be ( called | invoked ) with <param> ( <scope> | <at> <calls> )?
        | ( all | every ) ( code | caller | callers ) <modal> ( call | invoke ) <sym> with <param>"),
    ("asks-find", "<find> <calls> ( and | COMMA | COMMA and | and then | COMMA then )
        ( <update> <target> <so> <doing> | <update> <target> ( with | by adding | by passing ) <param> | make <target> <doing> | <doing> )"),
    ("asks-where", "( everywhere | wherever | whenever | every time | each time ) <sym> is ( called | invoked | used ) <scope>? COMMA? <doing>
        | ( at | in ) <calls> COMMA? <doing>"),
    ("asks-call", "always? ( call | invoke ) <sym> with <param> ( <scope> | <at> <calls> )?"),
    ("asks-passive", "<param> <modal> be ( passed | added | supplied | provided | set | given | specified | included )
        ( ( <at> | by ) <calls> | <scope> )* | <param> <modal> be ( passed | supplied | given ) to <sym> <scope>?"),
    // Saying again, without the argument.
    ("restates", "<lead> ( ( <update> | <find> | <see> ) <calls> ( accordingly | too | as well )?
        | <find> <calls> and then? <update> <them> accordingly? | <update> <them> accordingly?
        | ( do | apply | make ) ( this | that | the same | this change | the change | the same change | the edit ) ( <at> <target> | everywhere )
        | <calls> <modal> be ( updated | changed | adjusted )
        | ( do not | don't | never ) ( miss | forget ) ( any | a single | one | any of them ) <call>?
        | no <call> ( may | should | must ) be ( missed | forgotten ) )"),
    // What the definition is like.
    ("defsubject", "<sym> ( in FILE | from FILE | COMMA? ( which is )? defined in FILE COMMA? )?"),
    ("deftail", "COMMA? OPEN ( optional | keyword-only | boolean )? COMMA? ( ( default | defaults ) ( to | is )? COLON? VALUE )? CLOSE
        | COMMA? ( which | that | and )? ( defaults to | with a default of | with default | with the default | with a default value of
            | is by default | has the default ) VALUE
        | COMMA? OPEN VALUE by default CLOSE | COMMA? ( that | which | for | to | so that ) FREEWORD*"),
    ("describes", "<defsubject> ( already | now | currently | recently | also )*
            ( accepts | takes | has | supports | gained | got | provides | requires | expects | offers | can take | has gained | has got )
            ( a | an | the )? ( new | optional | keyword-only | boolean | bool | required | additional | extra )* <paramnoun>? TYPED <paramnoun>? <deftail>*
        | ( the | its )? ( default | default value ) ( of TYPED )? ( is | remains | stays ) VALUE
        | ( it | TYPED | the TYPED <paramnoun> | the <paramnoun> ) ( defaults to VALUE | is optional | is keyword-only )
        | ( the | this ) <paramnoun> already exists | <sym> ( is | lives | is defined ) in FILE"),
    // What not to touch.
    ("nouns", "comments | docstrings | strings | string literals | string constants | imports | import statements | import lines
        | type aliases | method names | documentation | text"),
    ("thing", "( the | any | any other | other | all | all other )? <kindword>? NAME ( variant | variants | function | functions | method | methods
            | class | classes | <kindword> )*
        | ( any other | other | all other | the other ) ( functions | methods | variants | names | symbols )
        | <definition> | ( the | any )? <nouns> | anything else"),
    ("definition", "( the | its )? <kindword>? ( definition | signature | declaration | implementation ) ( itself | of <sym> )? | ( the <kindword> | SYMBOL ) itself"),
    ("things", "<thing> ( ( COMMA | or | and | nor | COMMA or | COMMA and | COMMA nor ) <thing> )*"),
    ("unlike", "( unrelated | different | separate | distinct | independent ) ( function | functions | symbol | symbols | method | methods | things )?"),
    ("because", "( DASH | COMMA | SEMI | COLON | OPEN )? ( because | since | as )? ( those | these | they | it | that | this | which ) ( are | is ) ( a | an )? <unlike> CLOSE?"),
    ("dont", "( do not | don't | never | you must not | you should not | must not | should not )"),
    ("touch", "modify | touch | change | edit | alter | update | rename | rewrite"),
    ("spares", "<lead> ( <dont> <touch> <things> <because>? | leave <things> ( alone | untouched | unchanged | as is | as they are | as it is ) <because>? )
        | <things> ( must | should | shall | may )? ( not be ( modified | touched | changed | edited | updated )
            | ( stay | remain | be left ) ( unchanged | untouched | alone | as is | as they are ) ) <because>?
        | <things> ( is | are ) ( a | an )? <unlike> <because>? | <because>"),
    ("keeps", "<lead> ( keep | leave | preserve ) ( all | every | any | the )? ( other | existing )* ( argument | arguments ) ( unchanged | as is | as they are | intact | untouched | in place )?
        | <lead> <dont> ( change | modify | remove | reorder | touch ) ( any | the | any of the )? ( other | existing )* ( argument | arguments )
        | ( nothing else | no other code ) ( should | must | may | is to | shall ) ( change | be changed | be modified | be touched )
        | make no other ( change | changes ) | no other changes ( please )?
        | everything else ( must | should | shall )? ( stay | stays | remain | remains ) ( unchanged | the same | as is | as it is )"),
    ("confines", "<lead> only <touch> <quant> <adj> <call> <of>? ( OPEN not <things> CLOSE | COMMA not <things> | DASH not <things> )?"),
    ("explains", "( grep | a grep | text search | a text search | plain text search ) ( for ( SYMBOL | NAME ) )? ( finds | matches | returns ) FREE*
        | only a type-aware ( tool | search | analysis ) can ( distinguish | tell | find | identify ) FREE*"),
    ("verifies", "<lead> <see>? that? ( all | the )* existing? ( tests | test suite | type checker ) ( must | should | still | will )* ( pass | succeed | be green | stay green ) afterwards?
        | the code ( must | should ) still ( type-check | run | work )"),
    ("label", "constraints | constraint | note | notes | important | task | the task | goal | instructions | instruction | requirements | requirement
        | rules | example | examples | for example | before | after | signature | background | context | description | details | overview | summary | hint | what to do | what to change | why
        | why grep cannot solve this"),
];
