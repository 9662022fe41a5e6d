// Generated from openapi/payments.yaml by `npm run generate`. Do not edit: a test fails when it is stale.

export interface paths {
    "/v1/auth/token/issue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue an access token
         * @description No bearer token. The parent account id of the business goes in header `accountId`.
         */
        post: operations["issueToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/token/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh an access token
         * @description Requires bearer authentication.
         */
        post: operations["refreshToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/token/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an access token
         * @description The specification states neither `Authorization` nor `accountId` for this endpoint, so neither is declared here. It does not say either that the endpoint takes none.
         */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sub accounts, newest first */
        get: operations["listAccounts"];
        put?: never;
        /** Create a sub account */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/sub-account-details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a sub account
         * @description The parent id goes in header `accountId`; the sub account is named in the query.
         */
        get: operations["getSubAccountDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/terminals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List terminals
         * @description Its 200 declares no rate-limit headers: the specification gives them to the authentication and account endpoints, and Terminals is a group of its own beside Accounts; only the path begins like an account endpoint's. A client may still read the headers when they are there.
         */
        get: operations["listTerminals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkout/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a checkout order
         * @description A small first amount may be used only to save the card; no minimum amount is set, but some banks decline very small card payments.
         */
        post: operations["createCheckoutOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkout/checkout-card-detail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit card details
         * @description Takes neither `Authorization` nor `accountId`. The caller must be PCI DSS compliant.
         */
        post: operations["submitCardDetails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkout/checkout-card-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit an OTP
         * @description Takes neither `Authorization` nor `accountId`. Up to 3 submissions per charge: further OTPs are refused with the message `TOO MANY OTP ATTEMPTS`. 15 minutes from the charge without a successful OTP, the service checks with the bank and marks the charge failed if incomplete; a new charge with a new `orderReference` is required. Even on success the merchant confirms the charge before giving value.
         */
        post: operations["submitOtp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkout/resend-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend the OTP
         * @description No `Authorization` or `accountId` header is used. Resending does not extend the 15-minute limit.
         */
        post: operations["resendOtp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkout/tokenized-card-payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Charge a saved card
         * @description The charge is credited to the account in header `accountId`.
         *
         *     | code | data.status | data.otpRequired | Meaning | Merchant action |
         *     |---|---|---|---|---|
         *     | `"00"` | true | false | approved | confirm via transaction lookup before giving value |
         *     | `"00"` | false | true | pending OTP | keep `transactionId`, submit OTP within 15 minutes |
         *     | `"00"` | false | false | declined by bank; reason in message | retry rules below |
         *     | `"400"` | false | false | rejected by the service | fix the request |
         *
         *     The `description` text reads the same for approved, OTP-pending and declined results and must not be
         *     used to decide the outcome.
         *
         *     Retry rules: an unknown outcome (for example a timeout) is retried with the same `orderReference`; the
         *     service never charges one `orderReference` twice, and a retry of a received request is rejected as
         *     already existing; the merchant then looks the order up. After a bank decline, wait (for example 24
         *     hours), stop after a few attempts, and use a new `orderReference` per attempt.
         *
         *     The specification does not say which HTTP status carries a `code` of `"400"`: it is written under 200
         *     here, and a reader takes it from any.
         */
        post: operations["chargeSavedCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkout/tokenized-card-data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List saved cards by customer email
         * @description The method exists. Its request shape, headers included, is not shown, so no parameter and no security is declared.
         */
        get: operations["listSavedCards"];
        put?: never;
        /**
         * Change the email of a saved card
         * @description Only the email changes, never the card. After the change, charges with the old email are rejected.
         */
        post: operations["changeSavedCardEmail"];
        /**
         * Delete a saved card
         * @description The method exists. Its request shape, headers included, is not shown, so no parameter, no body and no security is declared.
         */
        delete: operations["deleteSavedCard"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions/accounts/single": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look up a transaction by the merchant's order reference
         * @description A charge is successful only when all hold: `data.status` is `SUCCESS`; `data.onlineCheckoutOrderReference` equals the charged reference; the amount equals the amount charged. Otherwise value is not given; check again later or wait for the webhook.
         */
        get: operations["getTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/checkout/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sandbox: create a checkout order */
        post: operations["sandboxCreateCheckoutOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/checkout/checkout-card-detail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sandbox: submit card details
         * @description Only the card number decides the outcome; any expiry, CVV and PIN work. A designated sandbox test Mastercard number yields `responseCode` `T0` (its value is omitted here).
         */
        post: operations["sandboxSubmitCardDetails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/checkout/tokenized-card-payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sandbox: charge a saved card
         * @description `order.orderReference` equal to `1234567890` gives code `404` with a record-not-found message; any other reference is approved (`data.status` true). `otpRequired` true cannot be produced. Any value can be used as `tokenKey`.
         */
        post: operations["sandboxChargeSavedCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/checkout/checkout-card-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sandbox: submit an OTP
         * @description Any `orderReference` and `transactionId`: `otp` `9999` approved (message about approval by a financial institution); `1234` timed out (message that the payment exceeded the time allowed); `5464` wrong OTP (message `Invalid OTP`).
         */
        post: operations["sandboxSubmitOtp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/checkout/tokenized-card-data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sandbox: list saved cards
         * @description Returns 404 record-not-found for one designated sample customer email and a sample list otherwise. The request shape, headers included, is not shown.
         */
        get: operations["sandboxListSavedCards"];
        put?: never;
        /**
         * Sandbox: change the email of a saved card
         * @description Returns 404 record-not-found for `tokenKey` `123` and success otherwise.
         */
        post: operations["sandboxChangeSavedCardEmail"];
        /**
         * Sandbox: delete a saved card
         * @description Returns 404 record-not-found for `tokenKey` `123` and success otherwise. The request shape, headers included, is not shown, so where `tokenKey` stands is not either.
         */
        delete: operations["sandboxDeleteSavedCard"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    payment_success: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment succeeded
         * @description Sent to the merchant's webhook URL. The service retries a webhook when the receiver does not answer with
         *     a 2xx status, so one event can arrive more than once; value is given once per `orderReference`. Receivers
         *     reject payloads with an invalid signature. If the first-payment webhook has no token, the merchant falls
         *     back to listing saved cards.
         *
         *     Which field tells the event's name is among the payload fields that are not shown.
         */
        post: operations["paymentSuccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    payment_failed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A saved-card charge failed
         * @description Sent to the merchant's webhook URL. The service retries a webhook when the receiver does not answer with
         *     a 2xx status, so one event can arrive more than once; value is given once per `orderReference`. Receivers
         *     reject payloads with an invalid signature. If the first-payment webhook has no token, the merchant falls
         *     back to listing saved cards.
         *
         *     Which field tells the event's name is among the payload fields that are not shown.
         */
        post: operations["paymentFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description Most responses are wrapped in it. The account list and the terminal list are shaped differently. */
        Envelope: {
            /** @description Result code. `"00"` means success. Also seen: `"400"` checkout request rejected before the card was charged; `"01"` transaction not found in the lookup. */
            code?: string;
            /** @description Human-readable description. Must not be used to decide the outcome of a charge. */
            description?: string;
            /** @description Present on checkout responses: request status. */
            status?: boolean;
            /** @description Operation payload. */
            data?: {
                [key: string]: unknown;
            } | null;
        };
        Account: {
            /**
             * Format: uuid
             * @description 36 characters (uuid).
             */
            accountId?: string;
            /** @description Business id of the parent that houses the account. */
            accountHolderId?: string;
            /** @description Exactly 20 characters. Unique reference to track the account from an external process; generated if not provided at creation. */
            accountRef?: string;
            /** @description Unique to the account bearer. */
            phoneNumber?: string;
            /** @description Email of the account bearer. */
            email?: string;
            /** @description Exactly 11 characters. */
            bvn?: string;
            /**
             * @description `virtual` or `physical`.
             * @enum {string}
             */
            type?: "virtual" | "physical";
            /** @description 2 to 255 characters. */
            accountName?: string;
            banks?: components["schemas"]["BankEntry"][];
            /** @description 0 to 255 characters. */
            address?: string;
            /**
             * @description `active`, `pnd`, `fraudulent`, `suspend`.
             * @enum {string}
             */
            status?: "active" | "pnd" | "fraudulent" | "suspend";
            /**
             * @description 3 characters; only `NGN` is supported.
             * @enum {string}
             */
            currency?: "NGN";
            /** @description Brief description. */
            description?: string;
            /**
             * Format: date-time
             * @description UTC, ISO 8601 `YYYY-MM-DDThh:mm:ssZ`.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description UTC, ISO 8601 `YYYY-MM-DDThh:mm:ssZ`.
             */
            updatedAt?: string;
        };
        BankEntry: {
            /** @description Exactly 10 characters. */
            bankAccountNumber?: string;
            bankName?: string;
            bankAccountName?: string;
        };
        /** @description Tokenized card data. */
        SavedCard: {
            /** @description The card token. Belongs to the merchant account that saved it. */
            tokenKey?: string;
            /** @description Card network name. */
            cardType?: string;
            /** @description Expiry of the token/card. */
            tokenExpiryDate?: string;
            /** @description Masked or last digits of the card number. */
            cardPan?: string;
            /** @description Email the card is saved against; every charge must use the same email. */
            customerEmail?: string;
        };
        /** @description Transaction record (returned by the single-transaction lookup). */
        Transaction: {
            /** @description Transaction id. */
            id?: string;
            /** @description `SUCCESS` for a successful charge. */
            status?: string;
            /** @description Transaction amount, two decimal places. */
            amount?: string;
            /** @description Origin of the transaction. */
            source?: string;
            /** @description Kind of transaction (an online checkout transaction has the kind `online_checkout`). */
            type?: string;
            /** @description Gateway message. */
            gatewayMessage?: string;
            /** @description Service's id for the order. */
            onlineCheckoutOrderId?: string;
            /** @description The merchant's order reference. */
            onlineCheckoutOrderReference?: string;
            /** @description Currency code. */
            onlineCheckoutCurrency?: string;
            /** @description Customer email. */
            onlineCheckoutCustomerEmail?: string;
            /** @description Order amount, two decimal places. */
            onlineCheckoutAmount?: string;
            /** @description Payment method (a card payment has the value `card_payment`). */
            onlineCheckoutPaymentMethod?: string;
            /** @description Currency code. */
            currency?: string;
            /** @description Ledger direction (a credit has the value `CREDIT`). */
            entryType?: string;
        };
        /** @description Terminal record (element of the terminal list). */
        Terminal: {
            terminalId?: string;
            serialNumber?: string;
            accountId?: string;
            parentAccountId?: string;
            merchantName?: string;
            terminalLabel?: string;
            /**
             * Format: date-time
             * @description ISO 8601 timestamp with milliseconds.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description ISO 8601 timestamp with milliseconds.
             */
            updatedAt?: string;
        };
        ErrorBody: {
            [key: string]: unknown;
        };
        IssueTokenRequest: {
            [key: string]: unknown;
        };
        RefreshTokenRequest: {
            [key: string]: unknown;
        };
        RevokeTokenRequest: {
            [key: string]: unknown;
        };
        RevokeTokenResponse: {
            [key: string]: unknown;
        };
        TokenPayload: {
            [key: string]: unknown;
        };
        TokenResponse: components["schemas"]["Envelope"] & {
            data: components["schemas"]["TokenPayload"];
        };
        /** @description A page of sub accounts, newest first, without an envelope. */
        AccountList: {
            results?: components["schemas"]["Account"][];
            /** @description Empty when no more pages. */
            cursor?: string;
        };
        CreateAccountRequest: {
            [key: string]: unknown;
        };
        CreateAccountResponse: components["schemas"]["Envelope"] & {
            data: {
                [key: string]: unknown;
            };
        };
        SubAccountDetailsResponse: components["schemas"]["Envelope"] & {
            data?: {
                [key: string]: unknown;
            } | null;
        };
        TerminalListResponse: components["schemas"]["Envelope"] & {
            data?: {
                results?: components["schemas"]["Terminal"][];
                /** @description Empty string on the last page. */
                cursor?: string;
            };
        };
        CheckoutOrderRequest: {
            order: components["schemas"]["CheckoutOrder"];
            /** @description Required for card saving. Must be at the top level, beside `order`; ignored inside `order`. */
            tokenizeCard?: boolean;
        };
        /** @description Created by the order endpoint. It has a merchant-supplied `orderReference` and a service-assigned id (returned as `data.orderReference` at creation and as `orderId` on charges; the webhook returns it as `order.orderId`). */
        CheckoutOrder: {
            /** @description Two decimal places. */
            amount: string;
            /** @description Currency code. */
            currency: string;
            /** @description The card is saved against it; all later charges must use it. */
            customerEmail: string;
            /** @description Up to 50 characters; generated if omitted. Unique. */
            orderReference?: string;
            /** @description Merchant's id for the customer; returned in the webhook. */
            customerId?: string;
            /** @description Where the customer is sent after paying on the checkout page. */
            callbackUrl?: string;
            /** @description Use `["Card"]` for card saving; a transfer payment yields no card token. */
            allowedPaymentMethods?: string[];
        };
        CheckoutOrderResponse: components["schemas"]["Envelope"] & {
            data?: {
                success?: boolean;
                /** @description The specification tells no type. */
                message?: unknown;
                /** @description Link to the checkout page. */
                checkoutLink?: string;
                /** @description The service's id for the order, not the merchant's reference. */
                orderReference?: string;
            };
        };
        /** @description Do not send `saveCard`: alone it saves the card to the customer's checkout profile, not to the merchant, so it cannot be charged. */
        CardDetailRequest: {
            saveCard?: never;
            /** @description A JSON string of CardDetails, or that string encrypted with `key`. */
            cardDetails: string;
            /** @description Encryption key if `cardDetails` is encrypted, else empty string. */
            key: string;
            /** @description The service's order id from order creation. */
            orderReference: string;
            deviceInformation: components["schemas"]["DeviceInformation"];
        };
        /** @description What the `cardDetails` string holds. The specification tells no types of its members. */
        CardDetails: {
            cardNumber?: unknown;
            cardExpiryMonth?: unknown;
            cardExpiryYear?: unknown;
            cardCVV?: unknown;
            cardPin?: unknown;
        };
        DeviceInformation: {
            httpBrowserLanguage?: string;
            httpBrowserJavaEnabled?: string;
            httpBrowserJavaScriptEnabled?: string;
            httpBrowserColorDepth?: string;
            httpBrowserScreenHeight?: string;
            httpBrowserScreenWidth?: string;
            httpBrowserTimeDifference?: string;
            userAgentBrowserValue?: string;
            deviceChannel?: string;
        };
        CardDetailResponse: components["schemas"]["Envelope"] & {
            data?: {
                /** @description True when details accepted. */
                status?: boolean;
                /** @description For the customer. */
                message?: string;
                /** @description `T0` means the customer must enter the bank OTP. */
                responseCode?: string;
                transactionId?: string;
                /** @description 3D Secure data when the bank asks for 3D Secure instead of OTP. */
                secureAuthenticationData?: {
                    [key: string]: unknown;
                } | null;
            };
        };
        OtpRequest: {
            otp: string;
            /** @description For the card-saving payment the service's order id; for a saved-card charge the merchant's `orderReference` used on the charge. */
            orderReference: string;
            /** @description For a saved-card charge the one returned by the charge. */
            transactionId: string;
        };
        OtpResponse: components["schemas"]["Envelope"] & {
            data?: {
                /** @description True when the bank accepted the OTP and completed the payment. */
                status?: boolean;
                message?: string;
            };
        };
        ResendOtpRequest: {
            /** @description Send the charge's `transactionId` in this field. */
            orderReference: string;
        };
        ResendOtpResponse: unknown;
        SavedCardChargeRequest: {
            tokenKey: string;
            order: components["schemas"]["SavedCardChargeOrder"];
        };
        /** @description Sub-account (`order.accountId`) and split (`order.splitRequest`) settings are not applied to saved-card charges. `callbackUrl` is unnecessary. */
        SavedCardChargeOrder: {
            /** @description Two decimals. */
            amount: string;
            currency: string;
            /** @description Must equal the email the card was saved with. */
            customerEmail: string;
            /** @description Up to 50 characters, new for every charge; generated if omitted but then retries are unsafe. */
            orderReference?: string;
            customerId?: string;
        };
        SavedCardChargeResponse: components["schemas"]["Envelope"] & {
            data?: components["schemas"]["SavedCardChargeResult"];
        };
        /** @description `otpRequired` true cannot be produced. */
        SandboxSavedCardChargeResponse: components["schemas"]["Envelope"] & {
            data?: components["schemas"]["SavedCardChargeResult"] & {
                /** @constant */
                otpRequired?: false;
            };
        };
        SavedCardChargeResult: {
            /** @description True when the bank approved. */
            status?: boolean;
            /** @description The bank's own reason on a decline (wording depends on bank and network); the cause on a rejection. */
            message?: string;
            otpRequired?: boolean;
            /** @description Returned only when `otpRequired` is true. */
            transactionId?: string;
            /** @description The service's id for the charge; null on rejection. */
            orderId?: string | null;
            /** @description The merchant's reference; null on rejection. */
            orderReference?: string | null;
        };
        SavedCardEmailRequest: {
            tokenKey: string;
            /** @description Must be the email linked to the card. */
            currentEmailAddress: string;
            newEmailAddress: string;
        };
        SavedCardEmailResponse: components["schemas"]["Envelope"] & {
            data?: {
                /** @description False if `currentEmailAddress` is not the email linked to the card. */
                status?: boolean;
                message?: string;
                /** @description Saved card with the new email. */
                tokenizedCardData?: components["schemas"]["SavedCard"];
            };
        };
        SavedCardListResponse: unknown;
        DeleteSavedCardResponse: unknown;
        TransactionResponse: components["schemas"]["Envelope"] & {
            data?: components["schemas"]["Transaction"] | null;
        };
        PaymentSuccessEvent: {
            data?: components["schemas"]["EventData"];
            /** @description Present on the first card-saving payment in production; carries the card token (Saved card). The sandbox event has none. */
            tokenizedCardData?: components["schemas"]["SavedCard"];
        } & {
            [key: string]: unknown;
        };
        PaymentFailedEvent: {
            data?: components["schemas"]["EventData"];
        } & {
            [key: string]: unknown;
        };
        EventData: {
            order?: {
                /** @description Match a charge to this value. */
                orderReference?: string;
                /** @description The service's order id (equals `data.orderReference` returned at order creation). */
                orderId?: string;
                /** @description The merchant's customer id, when supplied on the order. */
                customerId?: string;
                /**
                 * @description `"true"` for a saved-card charge, `"false"` for the first card-saving payment.
                 * @enum {string}
                 */
                isTokenizedCardPayment?: "true" | "false";
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
    };
    responses: {
        /** @description The access token. */
        Token: {
            headers: {
                "X-Rate-Limit-Limit": components["headers"]["X-Rate-Limit-Limit"];
                "X-Rate-Limit-Remaining": components["headers"]["X-Rate-Limit-Remaining"];
                "X-Rate-Limit-Window": components["headers"]["X-Rate-Limit-Window"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TokenResponse"];
            };
        };
        /** @description The created order, with the link to its checkout page. */
        CheckoutOrder: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CheckoutOrderResponse"];
            };
        };
        /** @description What the bank asks for next. */
        CardDetails: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CardDetailResponse"];
            };
        };
        /** @description Whether the email was changed. */
        SavedCardEmail: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SavedCardEmailResponse"];
            };
        };
        /** @description Request body failed validation. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Access token missing or invalid. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Client lacks permission. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Record does not exist. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Record does not exist. Whether the 404 is the HTTP status, the `code`, or both, the specification does not say; a reader takes either. */
        SandboxRecordNotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Call limit for the period exceeded. */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Downstream system error. */
        ServerError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: {
        /**
         * @description The parent account id of the business. Authentication and account endpoints declare it as a uuid.
         * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
         */
        AccountId: string;
        /**
         * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
         * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
         */
        MerchantAccountId: string;
        /**
         * @description Page size, maximum 50.
         * @example 50
         */
        Limit: number;
        /**
         * @description Omit on the first call, pass only a cursor the service returned.
         * @example c2FtcGxlLWN1cnNvcg
         */
        Cursor: string;
    };
    requestBodies: {
        CheckoutOrder: {
            content: {
                "application/json": components["schemas"]["CheckoutOrderRequest"];
            };
        };
        CardDetails: {
            content: {
                "application/json": components["schemas"]["CardDetailRequest"];
            };
        };
        Otp: {
            content: {
                "application/json": components["schemas"]["OtpRequest"];
            };
        };
    };
    headers: {
        /**
         * @description Requests allowed in the period.
         * @example 100
         */
        "X-Rate-Limit-Limit": number;
        /**
         * @description Requests left.
         * @example 99
         */
        "X-Rate-Limit-Remaining": number;
        /**
         * @description Window length as text such as a number of seconds with unit s.
         * @example 60s
         */
        "X-Rate-Limit-Window": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    issueToken: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The parent account id of the business. Authentication and account endpoints declare it as a uuid.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["AccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueTokenRequest"];
            };
        };
        responses: {
            200: components["responses"]["Token"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    refreshToken: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The parent account id of the business. Authentication and account endpoints declare it as a uuid.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["AccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshTokenRequest"];
            };
        };
        responses: {
            200: components["responses"]["Token"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevokeTokenRequest"];
            };
        };
        responses: {
            /** @description The answer to a revocation. */
            200: {
                headers: {
                    "X-Rate-Limit-Limit": components["headers"]["X-Rate-Limit-Limit"];
                    "X-Rate-Limit-Remaining": components["headers"]["X-Rate-Limit-Remaining"];
                    "X-Rate-Limit-Window": components["headers"]["X-Rate-Limit-Window"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeTokenResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /**
                 * @description Page size, maximum 50.
                 * @example 50
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Omit on the first call, pass only a cursor the service returned.
                 * @example c2FtcGxlLWN1cnNvcg
                 */
                cursor?: components["parameters"]["Cursor"];
            };
            header: {
                /**
                 * @description The parent account id of the business. Authentication and account endpoints declare it as a uuid.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["AccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sub accounts. It has no envelope. */
            200: {
                headers: {
                    "X-Rate-Limit-Limit": components["headers"]["X-Rate-Limit-Limit"];
                    "X-Rate-Limit-Remaining": components["headers"]["X-Rate-Limit-Remaining"];
                    "X-Rate-Limit-Window": components["headers"]["X-Rate-Limit-Window"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The parent account id of the business. Authentication and account endpoints declare it as a uuid.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["AccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAccountRequest"];
            };
        };
        responses: {
            /** @description The created account. */
            200: {
                headers: {
                    "X-Rate-Limit-Limit": components["headers"]["X-Rate-Limit-Limit"];
                    "X-Rate-Limit-Remaining": components["headers"]["X-Rate-Limit-Remaining"];
                    "X-Rate-Limit-Window": components["headers"]["X-Rate-Limit-Window"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateAccountResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    getSubAccountDetails: {
        parameters: {
            query?: {
                /**
                 * @description Id of the sub account.
                 * @example 3f1c9a52-7d64-4e0b-9a35-2b8c51f0d7e1
                 */
                accountId?: string;
                /**
                 * @description The reference given at creation. It is declared with uuid format, while Account.accountRef is exactly 20 characters, which no uuid is. A caller sends the reference as it was given and does not check it against the format.
                 * @example 6a1d3c0e-52b7-4f8e-8d19-7e4b0a9c2f65
                 */
                accountRef?: string;
            };
            header: {
                /**
                 * @description The parent account id of the business. Authentication and account endpoints declare it as a uuid.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["AccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sub account. */
            200: {
                headers: {
                    "X-Rate-Limit-Limit": components["headers"]["X-Rate-Limit-Limit"];
                    "X-Rate-Limit-Remaining": components["headers"]["X-Rate-Limit-Remaining"];
                    "X-Rate-Limit-Window": components["headers"]["X-Rate-Limit-Window"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubAccountDetailsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    listTerminals: {
        parameters: {
            query?: {
                /**
                 * @description Page size, maximum 50.
                 * @example 50
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Omit on the first call, pass only a cursor the service returned.
                 * @example c2FtcGxlLWN1cnNvcg
                 */
                cursor?: components["parameters"]["Cursor"];
            };
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of terminals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TerminalListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    createCheckoutOrder: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["CheckoutOrder"];
        responses: {
            200: components["responses"]["CheckoutOrder"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    submitCardDetails: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["CardDetails"];
        responses: {
            200: components["responses"]["CardDetails"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    submitOtp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Otp"];
        responses: {
            /** @description The bank's answer to the OTP. The specification tells `data.status` and `data.message` of each outcome; the `code` and the outer `status` of a refused OTP are illustrations. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OtpResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    resendOtp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResendOtpRequest"];
            };
        };
        responses: {
            /** @description The answer to a resend. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResendOtpResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    chargeSavedCard: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavedCardChargeRequest"];
            };
        };
        responses: {
            /** @description What became of the charge; see the table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCardChargeResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    listSavedCards: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer; its shape is not shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCardListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    changeSavedCardEmail: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavedCardEmailRequest"];
            };
        };
        responses: {
            200: components["responses"]["SavedCardEmail"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    deleteSavedCard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer; its shape is not shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSavedCardResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    getTransaction: {
        parameters: {
            query: {
                /**
                 * @description The merchant's reference of the charge.
                 * @example INV-2026-0001-A1
                 */
                orderReference: string;
            };
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transaction, or `code` `"01"` with `data` null when no transaction exists. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxCreateCheckoutOrder: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["CheckoutOrder"];
        responses: {
            200: components["responses"]["CheckoutOrder"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxSubmitCardDetails: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["CardDetails"];
        responses: {
            200: components["responses"]["CardDetails"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxChargeSavedCard: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavedCardChargeRequest"];
            };
        };
        responses: {
            /** @description A fixed sample response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxSavedCardChargeResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxSubmitOtp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OtpRequest"];
            };
        };
        responses: {
            /** @description A fixed sample response. The specification tells the message of each; `code` and the outer `status` of those that are not approved are illustrations. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OtpResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxListSavedCards: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A sample list; its shape is not shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCardListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["SandboxRecordNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxChangeSavedCardEmail: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The merchant account id; a saved-card charge is credited to this account. Outside the authentication and account endpoints no format is declared.
                 * @example 8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38
                 */
                accountId: components["parameters"]["MerchantAccountId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavedCardEmailRequest"];
            };
        };
        responses: {
            200: components["responses"]["SavedCardEmail"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["SandboxRecordNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    sandboxDeleteSavedCard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success; its shape is not shown. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSavedCardResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["SandboxRecordNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["ServerError"];
        };
    };
    paymentSuccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Sent when a payment succeeds: the first card-saving payment, or a saved-card charge. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentSuccessEvent"];
            };
        };
        responses: {
            /** @description Received; the event is not sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver rejects a payload with an invalid signature. The service retries. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    paymentFailed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Sent when a saved-card charge fails. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentFailedEvent"];
            };
        };
        responses: {
            /** @description Received; the event is not sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The receiver rejects a payload with an invalid signature. The service retries. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
